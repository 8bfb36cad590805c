package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sternpost/sternpost/sqlgen/syntax"
)

// takes lets a command have that many arguments.
func takes(least, most int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) > most && most == 0:
			return fmt.Errorf("it takes no arguments, not %s", strings.Join(args, " "))
		case len(args) > most:
			return fmt.Errorf("unexpected argument %s", strings.Join(args[most:], " "))
		case len(args) == least-1:
			return errors.New("an argument is missing")
		case len(args) < least:
			return fmt.Errorf("%d arguments are missing", least-len(args))
		}
		return nil
	}
}

// takesCommand refuses arguments of a command that only has commands, and names the command
// that was probably meant.
func takesCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	if meant := syntax.Suggest(args[0], names); meant != "" {
		return fmt.Errorf("unknown command %q (did you mean %q?)", args[0], meant)
	}
	return fmt.Errorf("unknown command %q", args[0])
}

// badFlag says which values a flag takes, for an unreadable one.
func badFlag(_ *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	what, known := map[string]string{"int": "a number", "duration": "a time such as 30s or 5m", "bool": "true or false"}[invalid.GetFlag().Value.Type()]
	if !known {
		return err
	}
	return fmt.Errorf("--%s takes %s, not %q", invalid.GetFlag().Name, what, invalid.GetValue())
}

// stat looks at the file or folder of an argument.
func stat(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file or folder %s", path)
	}
	return info, err
}
