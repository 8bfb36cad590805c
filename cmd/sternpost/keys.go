package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/sternpost/sternpost/server/signin"
)

func newKeysCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "keys",
		Short: "Make, list and revoke keys for machines",
		Long: `A machine calls with a key as its Bearer token, with the rights of an identity.
The database login must be the owner of the tables.`,
		Args: takesCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newKeysCreate(), newKeysList(), newKeysRevoke())
	return c
}

func newKeysCreate() *cobra.Command {
	flags := &ownerFlags{}
	var identity, expires string
	c := &cobra.Command{
		Use:   "create --identity ID --expires WHEN",
		Short: "Make a key, which is shown once",
		Long: `Create makes a key of an identity and prints it on standard output. The key is shown only
this once: the database keeps its SHA-256. A key ends when it expires, when it is
revoked, and with its identity.`,
		Args: takes(0, 0),
	}
	flags.add(c)
	c.Flags().StringVar(&identity, "identity", "", "id of the identity, or an e-mail address that no other identity has")
	c.Flags().StringVar(&expires, "expires", "", "when it expires: days such as 90d, or the last day, such as 2027-01-31")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if identity == "" || expires == "" {
			return usageError(errors.New("--identity and --expires are required"))
		}
		ends, err := parseExpiry(expires, time.Now())
		if err != nil {
			return usageError(err)
		}
		url, err := flags.url()
		if err != nil {
			return err
		}
		key, created, err := signin.CreateKey(c.Context(), url, identity, ends)
		if errors.Is(err, signin.ErrNoIdentity) || errors.Is(err, signin.ErrSeveralIdentities) {
			return inputError(err)
		}
		if err != nil {
			return environmentError(err)
		}
		fmt.Fprintf(c.ErrOrStderr(), "key %s of identity %s, until %s; it is shown this once\n", created.ID, created.IdentityID, ends.UTC().Format(time.RFC3339))
		fmt.Fprintln(c.OutOrStdout(), key)
		return nil
	}
	return c
}

var isDays = regexp.MustCompile(`^([1-9][0-9]{0,4})d$`)

// parseExpiry reads when a key expires: after days, or with a day of UTC.
func parseExpiry(text string, now time.Time) (time.Time, error) {
	if match := isDays.FindStringSubmatch(text); match != nil {
		days, _ := strconv.Atoi(match[1])
		return now.AddDate(0, 0, days), nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("--expires: %q is neither a number of days such as 90d nor a date such as 2027-01-31", text)
	}
	if ends := day.AddDate(0, 0, 1); ends.After(now) {
		return ends, nil
	}
	return time.Time{}, fmt.Errorf("--expires: %s is in the past", text)
}

func newKeysList() *cobra.Command {
	flags := &ownerFlags{}
	c := &cobra.Command{
		Use:   "list",
		Short: "List keys by their ids",
		Args:  takes(0, 0),
	}
	flags.add(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		url, err := flags.url()
		if err != nil {
			return err
		}
		keys, err := signin.ListKeys(c.Context(), url)
		if err != nil {
			return environmentError(err)
		}
		w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tIDENTITY\tE-MAIL\tCREATED\tEXPIRES\tSTATE")
		for _, k := range keys {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.IdentityID, k.Email,
				k.CreatedAt.UTC().Format(time.DateOnly), k.EndsAt.UTC().Format(time.RFC3339), k.State)
		}
		return w.Flush()
	}
	return c
}

func newKeysRevoke() *cobra.Command {
	flags := &ownerFlags{}
	c := &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a key at once",
		Args:  takes(1, 1),
	}
	flags.add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		url, err := flags.url()
		if err != nil {
			return err
		}
		isRevoked, err := signin.RevokeKey(c.Context(), url, args[0])
		if err != nil {
			return environmentError(err)
		}
		if !isRevoked {
			return inputError(fmt.Errorf("no key %s can be revoked: sternpost keys list shows the keys", args[0]))
		}
		return nil
	}
	return c
}
