package disk

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/sternpost/sternpost/storage"
)

// Path is the path of the signed addresses, below the base URL.
const Path = "/storage/"

// UploadURL returns an address below the base URL. It does not contain type and length,
// but its signature covers them.
func (s *Store) UploadURL(_ context.Context, key string, u storage.Upload) (string, error) {
	expires := s.expiry(u.Lifetime)
	signature := s.sign("PUT", key, uploadValues(expires, u.ContentType, u.Size))
	return s.BaseURL + Path + key + "?" + url.Values{"expires": {expires}, "signature": {signature}}.Encode(), nil
}

func uploadValues(expires, contentType string, size int64) url.Values {
	return url.Values{"expires": {expires}, "size": {strconv.FormatInt(size, 10)}, "type": {contentType}}
}

// AdmitsUpload tells whether a PUT matches an upload URL: its query is unchanged, type
// and length are exactly as announced, and the URL has not expired.
func (s *Store) AdmitsUpload(key, query, contentType string, size int64) bool {
	values, signature, ok := readQuery(query, "expires")
	if !ok || !s.isInTime(values.Get("expires")) {
		return false
	}
	want := s.sign("PUT", key, uploadValues(values.Get("expires"), contentType, size))
	return hmac.Equal([]byte(signature), []byte(want))
}

// DownloadURL returns an address below the base URL, which determines how the object is
// served.
func (s *Store) DownloadURL(_ context.Context, key string, d storage.Download) (string, error) {
	values := url.Values{"expires": {s.expiry(storage.DownloadLifetime)}, "name": {d.Filename}, "type": {d.ContentType}}
	return s.BaseURL + Path + key + "?" + values.Encode() + "&signature=" + s.sign("GET", key, values), nil
}

// AdmitsDownload tells whether a GET matches a download URL that has not expired, and how
// to serve the object.
func (s *Store) AdmitsDownload(key, query string) (storage.Download, bool) {
	values, signature, ok := readQuery(query, "expires", "name", "type")
	if !ok || !hmac.Equal([]byte(signature), []byte(s.sign("GET", key, values))) || !s.isInTime(values.Get("expires")) {
		return storage.Download{}, false
	}
	return storage.Download{Filename: values.Get("name"), ContentType: values.Get("type")}, true
}

// readQuery reads a query with exactly these parameters and a signature, each once.
func readQuery(query string, names ...string) (values url.Values, signature string, ok bool) {
	values, err := url.ParseQuery(query)
	if err != nil || len(values) != len(names)+1 {
		return nil, "", false
	}
	for _, name := range append(names, "signature") {
		if len(values[name]) != 1 {
			return nil, "", false
		}
	}
	signature = values.Get("signature")
	values.Del("signature")
	return values, signature, true
}

// sign signs a request. Values are encoded, so that they cannot be confused.
func (s *Store) sign(method, key string, values url.Values) string {
	if len(s.Secret) == 0 {
		panic("disk: a store without a secret cannot sign an address")
	}
	mac := hmac.New(sha256.New, s.Secret)
	fmt.Fprintf(mac, "%s\n%s\n%s", method, key, values.Encode())
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// expiry returns the end of the lifetime, rounded up to a whole second.
func (s *Store) expiry(lifetime time.Duration) string {
	return strconv.FormatInt(s.Now().Add(lifetime).Unix()+1, 10)
}

func (s *Store) isInTime(expires string) bool {
	until, err := strconv.ParseInt(expires, 10, 64)
	return err == nil && s.Now().Unix() < until
}
