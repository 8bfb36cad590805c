// Gateway is object storage for tests, which checks signatures, signed headers and expiry. It is a module of its own, since
// versitygw requires more modules than all the rest.
//
//	gateway <folder> <address>
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

func main() {
	folder := os.Args[1]
	ctx, cancel := context.WithCancel(context.Background())
	go func() { // the parent holds the other end while it lives
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	err := serve(ctx, folder, os.Args[2])
	if ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "object storage for tests:", err)
		os.Exit(1)
	}
	_ = os.RemoveAll(folder)
}

func serve(ctx context.Context, folder, address string) error {
	for _, name := range []string{"objects", "descriptions"} {
		if err := os.MkdirAll(filepath.Join(folder, name), 0o700); err != nil {
			return err
		}
	}
	// Descriptions are stored beside the objects, since some file systems have no attributes.
	described, err := meta.NewSideCar(filepath.Join(folder, "descriptions"))
	if err != nil {
		return err
	}
	backend, err := posix.New(filepath.Join(folder, "objects"), described, posix.PosixOpts{
		SideCarDir:          filepath.Join(folder, "descriptions"),
		CopyObjectThreshold: 5 << 30,
		Concurrency:         64,
	})
	if err != nil {
		return err
	}
	return embedgw.RunVersityGW(ctx, backend, &embedgw.Config{
		RootUserAccess: os.Getenv("AWS_ACCESS_KEY_ID"), RootUserSecret: os.Getenv("AWS_SECRET_ACCESS_KEY"), Region: os.Getenv("AWS_REGION"),
		Ports:             []string{address},
		MaxConnections:    1000,
		MaxRequests:       1000,
		MultipartMaxParts: 10000,
		KeepAlive:         true,
		Quiet:             true,
		CORSAllowOrigin:   "*", // pages upload from any origin
		HealthPath:        "/health",
	})
}
