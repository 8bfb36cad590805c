// Package s3 keeps objects in a bucket of any service that speaks S3.
package s3

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/sternpost/sternpost/storage"
)

// Options configure the bucket.
type Options struct {
	Bucket string
	Region string

	// Endpoint is the address of the service; empty means that of AWS in the region.
	Endpoint string

	// PathStyle puts the bucket in the path instead of the host, as some services on a
	// single host require.
	PathStyle bool

	// Credentials sign the requests; nil means those that AWS tools find: in the environment,
	// in shared files, or in the role of the pod, the container or the machine.
	Credentials aws.CredentialsProvider
}

// Store is a bucket.
type Store struct {
	bucket string
	client *s3.Client
	signer *s3.PresignClient
}

var _ storage.Store = (*Store)(nil)

// The timeouts for a connection, and for the beginning of an answer.
const (
	dialTimeout   = 3 * time.Second
	headerTimeout = 30 * time.Second // copying a large object takes long
)

// Open prepares to use a bucket. It does not connect.
func Open(o Options) (*Store, error) {
	region := cmp.Or(o.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	if o.Credentials == nil {
		found, err := findCredentials(region, os.Getenv)
		if err != nil {
			return nil, err
		}
		o.Credentials = found
	}
	options := s3.Options{
		Region: region, Credentials: aws.NewCredentialsCache(o.Credentials), UsePathStyle: o.PathStyle,
		HTTPClient: awshttp.NewBuildableClient().
			WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialTimeout }).
			WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = headerTimeout }),
		// Features that the service can do without are left out: services other than AWS do not know the newer
		// checksums, and an upload URL would require one from its client.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	}
	if o.Endpoint != "" {
		options.BaseEndpoint = &o.Endpoint
	}
	client := s3.New(options)
	return &Store{bucket: o.Bucket, client: client, signer: s3.NewPresignClient(client)}, nil
}

// UploadURL returns a presigned PUT whose signature covers host, type and length.
func (s *Store) UploadURL(ctx context.Context, key string, u storage.Upload) (string, error) {
	signed, err := s.signer.PresignPutObject(ctx, &s3.PutObjectInput{
		Bucket:        &s.bucket,
		Key:           &key,
		ContentType:   &u.ContentType,
		ContentLength: &u.Size,
	}, s3.WithPresignExpires(u.Lifetime))
	if err != nil {
		return "", wrap("sign an upload", err)
	}
	return signed.URL, nil
}

// DownloadURL returns a presigned GET.
func (s *Store) DownloadURL(ctx context.Context, key string, d storage.Download) (string, error) {
	signed, err := s.signer.PresignGetObject(ctx, &s3.GetObjectInput{
		Bucket:                     &s.bucket,
		Key:                        &key,
		ResponseContentType:        &d.ContentType,
		ResponseContentDisposition: aws.String(storage.Disposition(d.ContentType, d.Filename)),
		ResponseCacheControl:       aws.String("private"),
	}, s3.WithPresignExpires(storage.DownloadLifetime))
	if err != nil {
		return "", wrap("sign a download", err)
	}
	return signed.URL, nil
}

// Put stores an object.
func (s *Store) Put(ctx context.Context, key, contentType string, contents []byte) error {
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket:        &s.bucket,
		Key:           &key,
		ContentType:   &contentType,
		ContentLength: aws.Int64(int64(len(contents))),
		Body:          bytes.NewReader(contents),
	})
	return wrap("store an object", err)
}

// Copy copies an object within the service.
func (s *Store) Copy(ctx context.Context, from, to, etag string) error {
	_, err := s.client.CopyObject(ctx, &s3.CopyObjectInput{
		Bucket:            &s.bucket,
		Key:               &to,
		CopySource:        aws.String(url.PathEscape(s.bucket + "/" + from)),
		CopySourceIfMatch: &etag,
	})
	return wrap("copy an object", err)
}

// Head describes an object.
func (s *Store) Head(ctx context.Context, key string) (storage.Object, error) {
	head, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.bucket, Key: &key})
	if err != nil {
		return storage.Object{}, wrap("look at an object", err)
	}
	return storage.Object{
		ContentType: aws.ToString(head.ContentType),
		Size:        aws.ToInt64(head.ContentLength),
		ETag:        aws.ToString(head.ETag),
	}, nil
}

// Delete removes an object.
func (s *Store) Delete(ctx context.Context, key string) error {
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: &key})
	if err = wrap("delete an object", err); errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}

// List yields the objects under a prefix.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[storage.Entry, error] {
	return func(yield func(storage.Entry, error) bool) {
		pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: &prefix})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(storage.Entry{}, wrap("list objects", err))
				return
			}
			for _, o := range page.Contents {
				e := storage.Entry{Key: aws.ToString(o.Key), Size: aws.ToInt64(o.Size), Changed: aws.ToTime(o.LastModified)}
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// wrap adds the operation to an error, and recognizes the errors about an object. A missing
// bucket is not one of them. The address of a failed request is left out: it contains the
// key of an upload, which is a secret.
func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	var raised smithy.APIError
	if errors.As(err, &raised) {
		switch raised.ErrorCode() {
		case "NotFound", "NoSuchKey":
			return fmt.Errorf("%s: %w", doing, storage.ErrNotFound)
		case "PreconditionFailed", "ConditionalRequestConflict":
			return fmt.Errorf("%s: %w", doing, storage.ErrChanged)
		}
	}
	var unsent *url.Error
	if errors.As(err, &unsent) {
		return fmt.Errorf("%s: %w", doing, unsent.Err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
