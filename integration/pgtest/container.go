package pgtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/sternpost/sternpost/integration/program"
	"github.com/sternpost/sternpost/sql/postgres"
)

// containerData is the data directory in a container.
const containerData = "/var/lib/postgresql/data"

// startContainer runs the image. Its password is not a secret: it is published on the
// loopback interface of a machine that runs tests.
func startContainer(ctx context.Context, engine string) (*server, error) {
	image := cmp.Or(os.Getenv(imageVariable), defaultImage)
	run := []string{
		"--env", "PGDATA=" + containerData, // from 18 on it would be elsewhere
		"--env", "POSTGRES_PASSWORD=postgres",
		"--env", "POSTGRES_INITDB_ARGS=--encoding=UTF8 --locale=C.UTF-8 --no-sync",
		// The data is in memory. An image runs Postgres as this user, or gives the folder to its own user.
		"--tmpfs", containerData + ":rw,uid=999,gid=999,mode=0700",
		image, "postgres",
	}
	for _, setting := range settings() {
		run = append(run, "-c", setting)
	}
	endpoint, stop, err := program.StartContainer(ctx, engine, "5432", run...)
	if err != nil {
		return nil, err
	}
	url := "postgres://postgres:postgres@" + endpoint + "/postgres?sslmode=disable"
	// The server that initialises the data does not listen on the port.
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if _, err = postgres.Start(ctx, postgres.Options{URL: url}); err == nil {
			return &server{url: url, describe: "a container of " + image, stop: stop}, nil
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return nil, errors.Join(fmt.Errorf("run a container of %s: %w", image, err), stop())
		}
	}
}
