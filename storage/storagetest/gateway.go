package storagetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"

	"github.com/sternpost/sternpost/storage/s3"
)

// The instructions of the parent to the gateway.
const (
	gatewayFolder  = "STERNPOST_TEST_GATEWAY_FOLDER"
	gatewayAddress = "STERNPOST_TEST_GATEWAY_ADDRESS"
)

// The only account of the gateway.
const (
	accessKey = "sternpost"
	secretKey = "not-a-secret"
	region    = "us-east-1"
)

// Main is called first in TestMain of packages whose tests use NewBucket. A process can
// have one gateway, which changes the working directory, so the test binary runs itself
// again for it.
func Main() {
	folder := os.Getenv(gatewayFolder)
	if folder == "" {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { // the parent holds the other end while it lives
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	err := serveGateway(ctx, folder, os.Getenv(gatewayAddress))
	if ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "object storage for tests:", err)
		os.Exit(1)
	}
	_ = os.RemoveAll(folder)
	os.Exit(0)
}

func serveGateway(ctx context.Context, folder, address string) error {
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
		RootUserAccess: accessKey, RootUserSecret: secretKey, Region: region,
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

// Gateway is object storage that checks signatures, signed headers and expiry.
type Gateway struct {
	Endpoint string
	folder   string
	command  *exec.Cmd
	stdin    io.Closer
}

// StartGateway starts a gateway in a separate process. It ends with the test.
func StartGateway(t testing.TB) *Gateway {
	t.Helper()
	address, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	g, err := startGateway(t.TempDir(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Stop)
	return g
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

func startGateway(folder, address string) (*Gateway, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	g := &Gateway{Endpoint: "http://" + address, folder: folder, command: exec.Command(executable)}
	g.command.Env = append(os.Environ(), gatewayFolder+"="+folder, gatewayAddress+"="+address)
	g.command.Stderr = os.Stderr
	if g.stdin, err = g.command.StdinPipe(); err != nil {
		return nil, err
	}
	if err := g.command.Start(); err != nil {
		return nil, fmt.Errorf("start object storage for tests: %w", err)
	}
	for range 300 {
		if response, err := http.Get(g.Endpoint + "/health"); err == nil {
			_, _ = io.Copy(io.Discard, bufio.NewReader(response.Body))
			response.Body.Close()
			return g, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	g.Stop()
	return nil, errors.New("object storage for tests does not answer")
}

// Stop ends the gateway like an outage. Its objects stay; they would be removed if only
// its standard input ended.
func (g *Gateway) Stop() {
	_ = g.command.Process.Kill()
	_ = g.command.Wait()
	_ = g.stdin.Close()
}

// Restart restarts a stopped gateway, at the same address and with the same objects.
func (g *Gateway) Restart(t testing.TB) {
	t.Helper()
	again, err := startGateway(g.folder, strings.TrimPrefix(g.Endpoint, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	g.command, g.stdin = again.command, again.stdin
}

// Options returns the options to open a bucket of the gateway.
func (g *Gateway) Options(bucket string) s3.Options {
	return s3.Options{
		Bucket: bucket, Region: region, Endpoint: g.Endpoint, PathStyle: true,
		Credentials: credentials{},
	}
}

// Environment returns the environment for another process to use a bucket of the gateway.
func (g *Gateway) Environment(bucket string) []string {
	return []string{
		"STERNPOST_STORAGE_TYPE=s3",
		"STERNPOST_STORAGE_S3_BUCKET=" + bucket,
		"STERNPOST_STORAGE_S3_REGION=" + region,
		"STERNPOST_STORAGE_S3_ENDPOINT=" + g.Endpoint,
		"STERNPOST_STORAGE_S3_PATH_STYLE=true",
		"AWS_ACCESS_KEY_ID=" + accessKey,
		"AWS_SECRET_ACCESS_KEY=" + secretKey,
	}
}

type credentials struct{}

func (credentials) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}, nil
}

// shared starts the gateway that all tests of a process share.
var shared = sync.OnceValues(func() (*Gateway, error) {
	folder, err := os.MkdirTemp("", "sternpost-objects-")
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	return startGateway(folder, address)
})

// SharedGateway returns a gateway that ends with the process.
func SharedGateway(t testing.TB) *Gateway {
	t.Helper()
	g, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return g
}
