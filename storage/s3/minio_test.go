package s3_test

import (
	"context"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/sternpost/sternpost/integration/program"
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
	engine := program.Engine(t.Context())
	if engine == "" || !program.HasImage(t.Context(), engine, image) {
		t.Skipf("SKIPPED: %s: it needs a container engine with the image %s (docker pull %s)", consequence, image, image)
	}
	address, stop, err := program.StartContainer(t.Context(), engine, "9000",
		"--env", "MINIO_ROOT_USER=sternpost", "--env", "MINIO_ROOT_PASSWORD=not-a-secret", image, "server", "/data")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	endpoint := "http://" + address
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		response, err := http.Get(endpoint + "/minio/health/ready")
		if err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("MinIO is not ready: %v", err)
		}
	}
	options := s3.Options{Bucket: "files", Region: "us-east-1", Endpoint: endpoint, PathStyle: true, Credentials: minioCredentials{}}
	storagetest.MakeBucket(t, options)
	storagetest.Run(t, storagetest.Backend{Store: open(t, options)})
}
