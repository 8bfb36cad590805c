package s3_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/sternpost/sternpost/storage/s3"
	"github.com/sternpost/sternpost/storage/storagetest"
)

// minioImage is the image, used only if it is already present.
const minioImage = "minio/minio"

type minioCredentials struct{}

func (minioCredentials) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "sternpost", SecretAccessKey: "not-a-secret"}, nil
}

// TestMinIO holds the backend against another implementation of S3.
func TestMinIO(t *testing.T) {
	t.Parallel()
	const consequence = "versitygw alone plays S3"
	image := os.Getenv("STERNPOST_TEST_MINIO_IMAGE")
	if image == "" {
		image = minioImage
	}
	if !hasImage(t.Context(), image) {
		t.Skipf("SKIPPED: %s: it needs a container engine with the image %s (docker pull %s)", consequence, image, image)
	}
	container, err := testcontainers.Run(t.Context(), image,
		testcontainers.WithLogger(log.NewNoopLogger()),
		testcontainers.WithEnv(map[string]string{"MINIO_ROOT_USER": "sternpost", "MINIO_ROOT_PASSWORD": "not-a-secret"}),
		testcontainers.WithExposedPorts("9000/tcp"),
		testcontainers.WithCmd("server", "/data"),
		testcontainers.WithWaitStrategyAndDeadline(time.Minute, wait.ForHTTP("/minio/health/ready").WithPort("9000/tcp")),
	)
	testcontainers.CleanupContainer(t, container)
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := container.PortEndpoint(t.Context(), "9000/tcp", "http")
	if err != nil {
		t.Fatal(err)
	}
	options := s3.Options{Bucket: "files", Region: "us-east-1", Endpoint: endpoint, PathStyle: true, Credentials: minioCredentials{}}
	storagetest.MakeBucket(t, options)
	storagetest.Run(t, storagetest.Backend{Store: open(t, options)})
}

// hasImage tells whether a container engine has an image, without waiting for an engine
// that hangs.
func hasImage(ctx context.Context, image string) bool {
	answer := make(chan bool, 1)
	go func() {
		defer func() {
			if recover() != nil { // testcontainers panics without an engine
				answer <- false
			}
		}()
		engine, err := testcontainers.NewDockerClientWithOpts(ctx)
		if err == nil {
			defer engine.Close()
			_, err = engine.ImageInspect(ctx, image)
		}
		answer <- err == nil
	}()
	select {
	case is := <-answer:
		return is
	case <-time.After(3 * time.Second):
		return false
	}
}
