package main

import (
	"os"
	"strconv"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/server"
	"github.com/sternpost/sternpost/server/config"
)

func newServe() *cobra.Command {
	flags := &serverFlags{}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the release that is installed in a database",
		Long: `Serve answers requests for the release that is installed in the database. It does
not read schema files, and changes to a newer release when one is installed. It
reads its configuration from sternpost.yaml and the environment; the environment
wins. It needs at least DATABASE_URL, BASE_URL and STERNPOST_AUTH_SIGNING_KEY. The
database login must be a member of the role sternpost_server and nothing else.`,
		Args: takes(0, 0),
	}
	flags.add(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		settings, err := flags.load()
		if err != nil {
			return err
		}
		if err := settings.MissingToServe(); err != nil {
			return inputError(err)
		}
		// Go should keep to the container's memory limit, unless GOMEMLIMIT says otherwise.
		// Outside of a container there is none.
		_, _ = memlimit.Set()
		s, err := server.New(settings, server.Options{})
		if err != nil {
			return environmentError(err)
		}
		if err := s.Run(c.Context()); err != nil {
			return environmentError(err)
		}
		return nil
	}
	return c
}

// serverFlags are the flags of the commands that serve. They take precedence over the
// environment, which takes precedence over the file.
type serverFlags struct {
	port        int
	databaseURL string
	config      string
}

func (f *serverFlags) add(c *cobra.Command) {
	c.Flags().IntVar(&f.port, "port", 0, "port to listen on (default 8080)")
	f.addDatabase(c)
}

// addDatabase adds the flags of commands that work on a server's database.
func (f *serverFlags) addDatabase(c *cobra.Command) {
	c.Flags().StringVar(&f.databaseURL, "database-url", "", "database to use (default $DATABASE_URL)")
	c.Flags().StringVar(&f.config, "config", "", "configuration file (default sternpost.yaml)")
}

// load reads the configuration as a server does.
func (f *serverFlags) load() (config.Config, error) {
	settings, err := config.Load(config.Source{File: f.file(), Env: append(os.Environ(), f.environment()...)})
	if err != nil {
		return settings, inputError(err)
	}
	return settings, nil
}

// environment returns the given flags in the form of os.Environ.
func (f *serverFlags) environment() []string {
	var env []string
	if f.port != 0 {
		env = append(env, "PORT="+strconv.Itoa(f.port))
	}
	if f.databaseURL != "" {
		env = append(env, "DATABASE_URL="+f.databaseURL)
	}
	return env
}

// file returns the configuration file: the named one, or else sternpost.yaml here if it
// exists.
func (f *serverFlags) file() string {
	if f.config != "" {
		return f.config
	}
	if _, err := os.Stat("sternpost.yaml"); err == nil {
		return "sternpost.yaml"
	}
	return ""
}
