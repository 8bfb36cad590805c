package dev

import (
	"context"
	"time"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/cmd/internal/seed"
	"github.com/sternpost/sternpost/server/config"
)

// seeding fills an empty database once in a run.
type seeding struct {
	settings config.Config
	address  string // of the server
	isDone   bool   // or cannot be done any more
}

// seed fills the database, if it is empty and the project has seeds. It reports errors in
// them, which the next change may fix.
func (l *loop) seed(ctx context.Context, installed *turnOutcome) {
	if l.seeding.isDone {
		return
	}
	files, err := seed.Read(l.options.Dir)
	if err != nil {
		l.seedFailed(err, seed.Result{})
		return
	}
	if len(files) == 0 {
		return
	}
	tokens, err := auth.NewTokens(auth.TokenOptions{
		SigningKey: []byte(l.seeding.settings.SigningKey), BaseURL: l.seeding.settings.BaseURL, Lifetime: time.Hour,
	})
	if err != nil {
		l.seedFailed(err, seed.Result{})
		return
	}
	seed.AwaitReady(ctx, l.seeding.address)
	result, err := seed.Apply(ctx, files, seed.Target{
		DatabaseURL: l.database.URL(), Compiled: installed.compiled, BaseURL: l.seeding.settings.BaseURL,
		Address: l.seeding.address, Tokens: tokens,
	})
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		l.seedFailed(err, result)
		return
	case result.IsFull:
		l.seeding.isDone = true
		l.say("%s/ was not used: it only fills an empty development database", seed.Folder)
		return
	}
	l.seeding.isDone = true
	l.say("the database was empty; from %s/: %s", seed.Folder, result)
	for _, f := range files {
		for _, identity := range f.Identities {
			l.say("  sign in as %s (the password is in %s)", identity.Email, f.Name)
		}
	}
}

// seedFailed says why seeds were not written, and which part of them was.
func (l *loop) seedFailed(err error, result seed.Result) {
	l.say("%v", err)
	if result.IsKept {
		l.seeding.isDone = true
		l.say("later calls were not made, and what was written before is kept: %s.\nCorrect the file, stop dev, and start over with an empty database%s", result, l.resetCommand())
	} else {
		l.say("nothing was written: correct the file and save it")
	}
	l.data.Behind(l.said.String())
}
