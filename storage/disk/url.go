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

// Path is the path below the base URL at which the signed addresses are.
const Path = "/storage/"

// UploadURL returns an address below the base URL. Type and length are not part of
// it, but its signature covers them.
func (s *Store) UploadURL(_ context.Context, key string, u storage.Upload) (string, error) {
	expires := s.expiry(u.Lifetime)
	signature := s.sign("PUT", key, uploadValues(expires, u.ContentType, u.Size))
	return s.BaseURL + Path + key + "?" + url.Values{"expires": {expires}, "signature": {signature}}.Encode(), nil
}

func uploadValues(expires, contentType string, size int64) url.Values {
	return url.Values{"expires": {expires}, "size": {strconv.FormatInt(size, 10)}, "type": {contentType}}
}

// AdmitsUpload tells whether a PUT is one that an upload URL was made for: what its query
// says, with exactly the type and length announced, and in time.
func (s *Store) AdmitsUpload(key, query, contentType string, size int64) bool {
	values, signature, ok := readQuery(query, "expires")
	if !ok || !s.isInTime(values.Get("expires")) {
		return false
	}
	want := s.sign("PUT", key, uploadValues(values.Get("expires"), contentType, size))
	return hmac.Equal([]byte(signature), []byte(want))
}

// DownloadURL returns an address below the base URL, which says how the object is handed
// out.
func (s *Store) DownloadURL(_ context.Context, key string, d storage.Download) (string, error) {
	values := url.Values{"expires": {s.expiry(storage.DownloadLifetime)}, "name": {d.Filename}, "type": {d.ContentType}}
	return s.BaseURL + Path + key + "?" + values.Encode() + "&signature=" + s.sign("GET", key, values), nil
}

// AdmitsDownload tells whether a download URL was made for a GET, and holds still, and how
// the object is to be handed out.
func (s *Store) AdmitsDownload(key, query string) (storage.Download, bool) {
	values, signature, ok := readQuery(query, "expires", "name", "type")
	if !ok || !hmac.Equal([]byte(signature), []byte(s.sign("GET", key, values))) || !s.isInTime(values.Get("expires")) {
		return storage.Download{}, false
	}
	return storage.Download{Filename: values.Get("name"), ContentType: values.Get("type")}, true
}

// readQuery reads a query that has these parameters and a signature, each once, and no
// others.
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

// sign signs a request. Values are encoded, so that none of them can be taken for another.
func (s *Store) sign(method, key string, values url.Values) string {
	if len(s.Secret) == 0 {
		panic("a store without a secret has signed an address")
	}
	mac := hmac.New(sha256.New, s.Secret)
	fmt.Fprintf(mac, "%s\n%s\n%s", method, key, values.Encode())
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// expiry is the whole second after the lifetime.
func (s *Store) expiry(lifetime time.Duration) string {
	return strconv.FormatInt(s.Now().Add(lifetime).Unix()+1, 10)
}

func (s *Store) isInTime(expires string) bool {
	until, err := strconv.ParseInt(expires, 10, 64)
	return err == nil && s.Now().Unix() < until
}
