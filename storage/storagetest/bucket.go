package storagetest

import (
	"crypto/rand"
	"strings"
	"testing"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/sternpost/sternpost/storage/s3"
)

// NewBucket makes a bucket in a gateway and returns its name.
func NewBucket(t testing.TB, g *Gateway) string {
	t.Helper()
	name := "test-" + strings.ToLower(rand.Text()[:16])
	MakeBucket(t, g.Options(name))
	return name
}

// MakeBucket makes the bucket that the options name.
func MakeBucket(t testing.TB, o s3.Options) {
	t.Helper()
	client := awss3.New(awss3.Options{
		Region: o.Region, BaseEndpoint: &o.Endpoint, UsePathStyle: o.PathStyle, Credentials: o.Credentials,
	})
	if _, err := client.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: &o.Bucket}); err != nil {
		t.Fatalf("make the bucket %s: %v", o.Bucket, err)
	}
}
