package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// healthTimeout is the longest time for a server's answer.
const healthTimeout = 5 * time.Second

func newHealth() *cobra.Command {
	flags := &serverFlags{}
	var ready bool
	c := &cobra.Command{
		Use:   "health",
		Short: "Ask the server on this machine whether it serves",
		Long: `Health asks the server on this machine, or in this container, whether it is healthy. It
finds the server by the server's own configuration. It exits with 1 if the server does
not answer, or says that it is not healthy.

A server is healthy while its process serves, even while its database is away. A
supervisor may therefore restart an unhealthy server. --ready asks whether the server
can take requests now.`,
		Args: takes(0, 0),
	}
	flags.add(c)
	c.Flags().BoolVar(&ready, "ready", false, "ask whether the server can take requests")
	c.RunE = func(c *cobra.Command, _ []string) error {
		settings, err := flags.load()
		if err != nil {
			return err
		}
		path := "/healthz"
		if ready {
			path = "/readyz"
		}
		answer, err := askHealth(c.Context(), "http://"+settings.Address()+path)
		if err != nil {
			return inputError(err)
		}
		fmt.Fprintln(c.OutOrStdout(), answer)
		return nil
	}
	return c
}

// askHealth returns the answer of a health path, if its status is 200. It uses no proxy,
// since the server is on this machine. A host such as 0.0.0.0 is this machine too.
func askHealth(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: healthTimeout}
	response, err := client.Do(request)
	if err != nil {
		return "", fmt.Errorf("ask the server: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1024))
	if err != nil {
		return "", fmt.Errorf("ask the server: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answers %d: %s", url, response.StatusCode, body)
	}
	return string(body), nil
}
