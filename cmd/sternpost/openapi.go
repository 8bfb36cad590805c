package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/server/account"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/openapi"
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/sqlgen"
)

func newOpenAPI() *cobra.Command {
	var name, baseURL string
	c := &cobra.Command{
		Use:   "openapi [DIR]",
		Short: "Print the OpenAPI document of an API",
		Long: `OpenAPI compiles the project and prints the OpenAPI 3.1 document of one of its APIs, as a
server answers it under /{api}/json/openapi.json. Three members do not come from the
schema. The version is 0 here; a server puts the number of its release there. The
address of the server and the name of the project (x-project) are those of the
project's settings.`,
		Args: takes(0, 1),
	}
	c.Flags().StringVar(&name, "api", "", "which API (the first one)")
	c.Flags().StringVar(&baseURL, "base-url", "", "address of the server (baseUrl of the settings)")
	c.RunE = func(c *cobra.Command, args []string) error {
		dir := projectDir(args)
		compiled, err := compile(c.ErrOrStderr(), dir)
		if err != nil {
			return err
		}
		manifest := account.Extend(compiled.Manifest, account.All)
		api, err := chooseAPI(manifest, name)
		if err != nil {
			return inputError(err)
		}
		settings, err := configuration(dir)
		if err != nil {
			return inputError(err)
		}
		if baseURL == "" {
			baseURL = settings.BaseURL
		}
		text, err := openapi.Describe(manifest, api, 0, baseURL, settings.Name)
		if err != nil {
			panic(fmt.Sprintf("openapi: %v", err))
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, text, "", "  "); err != nil {
			panic(fmt.Sprintf("openapi: %v", err))
		}
		indented.WriteByte('\n')
		if _, err := indented.WriteTo(c.OutOrStdout()); err != nil {
			return environmentError(err)
		}
		return nil
	}
	return c
}

// chooseAPI finds an API by its name, in any case of letters, or the first one.
func chooseAPI(m *release.Manifest, name string) (*release.API, error) {
	var names []string
	for i := range m.APIs {
		if name == "" || strings.EqualFold(name, m.APIs[i].Name) {
			return &m.APIs[i], nil
		}
		names = append(names, m.APIs[i].Name)
	}
	if len(names) == 0 {
		return nil, errors.New("the project has no API")
	}
	return nil, fmt.Errorf("unknown API %s; the project has %s", name, strings.Join(names, ", "))
}

// configuration is the configuration of the project's server in development.
func configuration(dir string) (config.Config, error) {
	file := filepath.Join(dir, sqlgen.ConfigName)
	if !exists(file) {
		file = ""
	}
	return config.Load(config.Source{Dir: dir, File: file, Env: append([]string{"STERNPOST_MODE=development"}, os.Environ()...)})
}
