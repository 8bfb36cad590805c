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
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/sternpost/sternpost/storage/s3"
)

// The only account of the gateway.
const (
	accessKey = "sternpost"
	secretKey = "not-a-secret"
	region    = "us-east-1"
)

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

// program returns the path of the gateway, which go compiles once and keeps in its cache. It is a process of its own, since
// it changes the working directory.
var program = sync.OnceValues(func() (string, error) {
	_, file, _, _ := runtime.Caller(0)
	command := exec.Command("go", "tool", "-C", filepath.Join(filepath.Dir(file), "testdata", "gateway"), "-n", "gateway")
	command.Stderr = os.Stderr
	path, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("compile object storage for tests: %w", err)
	}
	return strings.TrimSpace(string(path)), nil
})

func startGateway(folder, address string) (*Gateway, error) {
	executable, err := program()
	if err != nil {
		return nil, err
	}
	g := &Gateway{Endpoint: "http://" + address, folder: folder, command: exec.Command(executable, folder, address)}
	g.command.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID="+accessKey, "AWS_SECRET_ACCESS_KEY="+secretKey, "AWS_REGION="+region)
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
