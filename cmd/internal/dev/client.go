package dev

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sternpost/sternpost/server/account"
	"github.com/sternpost/sternpost/server/client"
	"github.com/sternpost/sternpost/sqlgen"
)

// keepClient writes the client of the first API into the configured file, if the client has changed. It leaves a file
// alone that is not such a client.
func (l *loop) keepClient(compiled *sqlgen.Compiled) error {
	if l.options.Config.Client == "" || len(compiled.Manifest.APIs) == 0 {
		return nil
	}
	name := filepath.Join(l.options.Dir, filepath.FromSlash(l.options.Config.Client))
	old, err := os.ReadFile(name)
	switch {
	case err == nil && !bytes.HasPrefix(old, []byte(client.Head)):
		return fmt.Errorf("%s is not a client: remove it, or name another file in %s", name, sqlgen.ConfigName)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("keep the client: %w", err)
	}
	manifest := account.Extend(compiled.Manifest, account.All)
	text, err := client.TypeScript(manifest, &manifest.APIs[0])
	if err != nil {
		return err
	}
	if text == string(old) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return fmt.Errorf("keep the client: %w", err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		return fmt.Errorf("keep the client: %w", err)
	}
	l.say("wrote %s", name)
	return nil
}
