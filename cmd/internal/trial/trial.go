// Package trial tests a project: it makes the calls of the files tests/*.yaml and
// tests/*.json in a database with the project's seeds, over HTTP, and compares the answers.
//
// The database with the seeds is a template: each file has a copy of it, and a server.
// Nothing of one file is there for the next one. A trial reaches nothing outside: it sends
// no mail, tells no webhook, and keeps files in a folder of its own.
package trial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/cmd/internal/seed"
	"github.com/sternpost/sternpost/server"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/encryption"
	"github.com/sternpost/sternpost/sql/postgres"
	"github.com/sternpost/sternpost/sqlgen"
	"github.com/sternpost/sternpost/sqlgen/install"
)

// Options say what to test.
type Options struct {
	Dir        string        // the project's folder
	Config     config.Config // of the server, in development mode
	Compiled   *sqlgen.Compiled
	ScratchURL string    // of a Postgres with a role that may create databases; one is started if it is empty
	Log        io.Writer // errors of the server
}

// Bench is what files are tested on.
type Bench struct {
	options Options
	scratch *postgres.Scratch
	seeds   []seed.File
	seeded  string // the URL of the database with the seeds
	files   string // a folder for the contents of files
}

// Open makes a bench: it installs the project in a database and writes its seeds.
func Open(ctx context.Context, o Options) (b *Bench, err error) {
	b = &Bench{options: o}
	if b.seeds, err = seed.Read(o.Dir); err != nil {
		return nil, err
	}
	if b.files, err = os.MkdirTemp("", "sternpost-test"); err != nil {
		return nil, fmt.Errorf("make a folder for files: %w", err)
	}
	if b.scratch, err = postgres.NewScratch(ctx, o.ScratchURL); err != nil {
		return nil, errors.Join(err, os.RemoveAll(b.files))
	}
	if err = b.fill(ctx); err != nil {
		return nil, errors.Join(err, b.Close(ctx))
	}
	return b, nil
}

// Close removes all that the bench has made.
func (b *Bench) Close(ctx context.Context) error {
	return errors.Join(b.scratch.Close(ctx), os.RemoveAll(b.files))
}

// fill makes the database with the seeds.
func (b *Bench) fill(ctx context.Context) (err error) {
	if b.seeded, err = b.scratch.Database(ctx); err != nil {
		return err
	}
	conn, err := postgres.Connect(ctx, b.seeded)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := install.InstallWith(ctx, conn, b.options.Compiled.Release(), install.Options{ByDev: true}); err != nil {
		return err
	}
	return b.serve(ctx, b.seeded, func(to seed.Target) error {
		_, err := seed.Apply(ctx, b.seeds, to)
		return err
	})
}

// serve serves a database while work is done with it.
func (b *Bench) serve(ctx context.Context, database string, work func(seed.Target) error) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for calls: %w", err)
	}
	settings := b.options.Config
	settings.DatabaseURL, settings.DatabaseReadURL = database, ""
	settings.BaseURL = "http://" + listener.Addr().String()
	settings.AdminPort, settings.Docs, settings.Subscribers, settings.Mail.Host = 0, false, nil, ""
	settings.Storage = config.Storage{Type: config.Local, Directory: b.files, DeleteDelay: settings.Storage.DeleteDelay}
	settings.EncryptionKey = encryption.GenerateKey()
	key, err := auth.GenerateKey()
	if err != nil {
		return err
	}
	settings.SigningKey, settings.VerificationKeys = string(key), nil
	tokens, err := auth.NewTokens(auth.TokenOptions{SigningKey: key, BaseURL: settings.BaseURL, Lifetime: time.Hour})
	if err != nil {
		return err
	}
	s, err := server.New(settings, server.Options{
		Role: "sternpost_server", Listener: listener,
		Log: slog.New(slog.NewTextHandler(b.options.Log, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(serving) }()
	seed.AwaitReady(ctx, settings.BaseURL)
	err = work(seed.Target{DatabaseURL: database, Compiled: b.options.Compiled, BaseURL: settings.BaseURL, Address: settings.BaseURL, Tokens: tokens})
	stop()
	return errors.Join(err, <-ended)
}

// Try makes the calls of a file, in a copy of the database with the seeds.
func (b *Bench) Try(ctx context.Context, f seed.File) (Result, error) {
	r := Result{File: f.Name}
	database, err := b.scratch.Copy(ctx, b.seeded)
	if err != nil {
		return r, err
	}
	err = b.serve(ctx, database, func(to seed.Target) error {
		callers, err := seed.Write(ctx, f, to)
		if err != nil {
			return err
		}
		answers := map[string]any{}
		for i, c := range f.Calls {
			began := time.Now()
			text, err := try(ctx, f, i, to, callers[c.As], answers)
			if err != nil {
				return err
			}
			r.Calls = append(r.Calls, Call{Call: c, Line: f.Line(i), Failure: text, Took: time.Since(began)})
		}
		return nil
	})
	return r, err
}
