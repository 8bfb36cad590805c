package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/files"
	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/disk"
	"github.com/sternpost/sternpost/storage/storagetest"
)

// diskServer is a server without a database, with files on a disk.
type diskServer struct {
	*testServer
	store *disk.Store
	end   func() // stops it, and waits for that
}

func startDisk(t *testing.T, o disk.Options, change func(*config.Config)) *diskServer {
	t.Helper()
	listener := listenLocal(t)
	if o.Directory == "" {
		o.Directory = filepath.Join(t.TempDir(), "files")
	}
	o.BaseURL, o.Secret, o.Spread, o.Durable = "http://"+listener.Addr().String(), []byte("secret"), true, true
	store, err := disk.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	log := &logBuffer{}
	s, err := New(testConfig("postgres://127.0.0.1:1/none", change), Options{
		Identifier: tokens{}, Listener: listener, AdminListener: listenLocal(t), Store: store,
		Log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	d := &diskServer{store: store, testServer: &testServer{Server: s, url: o.BaseURL, stop: stop, done: make(chan error, 1), log: log}}
	go func() { d.done <- s.Run(ctx) }()
	d.end = func() {
		t.Helper()
		stop()
		if err := <-d.done; err != nil {
			t.Errorf("Run: %v", err)
		}
		d.done <- nil
	}
	t.Cleanup(d.end)
	return d
}

// keep stores a file and signs its address.
func (d *diskServer) keep(t *testing.T, key, contents string, as storage.Download) string {
	t.Helper()
	if err := d.store.Put(t.Context(), storage.Files+key, "text/plain", []byte(contents)); err != nil {
		t.Fatal(err)
	}
	url, err := d.store.DownloadURL(t.Context(), storage.Files+key, as)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

var plainText = storage.Download{Filename: "a.txt", ContentType: "text/plain"}

// begins sends a request and reads only the header of its answer.
func (d *diskServer) begins(t *testing.T, url string) (*rawConn, int) {
	t.Helper()
	c := d.dial(t)
	if err := c.Conn.(*net.TCPConn).SetReadBuffer(256 << 10); err != nil {
		t.Fatal(err)
	}
	c.write(t, "GET "+strings.TrimPrefix(url, d.url)+" HTTP/1.1\r\nHost: x\r\n\r\n")
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c, response.StatusCode
}

// Storage on a disk passes the common tests of storage, through the server that takes
// uploads and serves files.
func TestDiskStorage(t *testing.T) {
	t.Parallel()
	d := startDisk(t, disk.Options{}, nil)
	inTheWay := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	broken, err := disk.Open(disk.Options{Directory: inTheWay, Durable: true, Spread: true})
	if err != nil {
		t.Fatal(err)
	}
	storagetest.Run(t, storagetest.Backend{Store: d.store, Broken: broken})
}

// A browser runs no scripts of a file, in any context, and shows a PDF.
func TestDiskHeaders(t *testing.T) {
	t.Parallel()
	d := startDisk(t, disk.Options{}, nil)
	const sandbox = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
	for _, c := range []struct{ contentType, sent, disposition, policy string }{
		{"image/png", "image/png", "inline", sandbox},
		{"text/plain; charset=utf-8", "text/plain; charset=utf-8", "inline", sandbox},
		{"image/svg+xml", "image/svg+xml", "attachment", sandbox},
		{"text/html", "text/html", "attachment", sandbox},
		{"application/xhtml+xml", "application/xhtml+xml", "attachment", sandbox},
		{"application/pdf", "application/pdf", "inline", "base-uri 'none'; form-action 'none'"},
		{"text/html\r\nX-Evil: 1", "application/octet-stream", "attachment", sandbox},
		{"no type", "application/octet-stream", "attachment", sandbox},
		{"", "application/octet-stream", "attachment", sandbox},
	} {
		url := d.keep(t, "a", "<script>alert(1)</script>", storage.Download{Filename: "a", ContentType: c.contentType})
		for _, method := range []string{"GET", "HEAD"} {
			response, body := d.do(t, method, strings.TrimPrefix(url, d.url), "", map[string]string{"Range": "bytes=0-5"})
			status, length := 206, "6"
			if method == "HEAD" { // it has no ranges
				status, length = 200, "25"
			}
			h := response.Header
			if response.StatusCode != status || h.Get("Content-Length") != length || method == "HEAD" && body != "" {
				t.Errorf("%s %q: got %d, length %s, body %q", method, c.contentType, response.StatusCode, h.Get("Content-Length"), body)
			}
			if h.Get("Content-Type") != c.sent || !strings.HasPrefix(h.Get("Content-Disposition"), c.disposition+";") || h.Get("Content-Security-Policy") != c.policy ||
				h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "private" || h.Get("Referrer-Policy") != "no-referrer" || h.Get("X-Evil") != "" {
				t.Errorf("%s %q: got %v", method, c.contentType, h)
			}
		}
	}
}

// Addresses expire, and one is valid only for its method, key and way.
func TestDiskAddresses(t *testing.T) {
	t.Parallel()
	d := startDisk(t, disk.Options{}, nil)
	anHourAgo, err := disk.Open(disk.Options{
		Directory: d.store.Directory, BaseURL: d.url, Secret: []byte("secret"), Now: func() time.Time { return time.Now().Add(-time.Hour - 2*time.Second) },
	})
	if err != nil {
		t.Fatal(err)
	}
	good := d.keep(t, "a", "abc", plainText)
	upload := func(s *disk.Store, key string) string {
		url, err := s.UploadURL(t.Context(), key, storage.Upload{ContentType: "text/plain", Size: 3, Lifetime: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return url
	}
	late, err := anHourAgo.DownloadURL(t.Context(), "files/a", plainText)
	if err != nil {
		t.Fatal(err)
	}
	overwriting := upload(d.store, "files/a") // no server signs such an address
	for _, c := range []struct {
		name, method, url string
		status            int
	}{
		{"as signed", "GET", good, 200},
		{"signed for GET", "HEAD", good, 200},
		{"late", "GET", late, 403},
		{"late upload", "PUT", upload(anHourAgo, "uploads/a"), 403},
		{"an upload URL to look at what was uploaded", "GET", upload(d.store, "uploads/a"), 405},
		{"a download URL of an upload", "GET", strings.Replace(good, "files/a", "uploads/a", 1), 405},
		{"the signature of a PUT", "GET", overwriting, 403},
		{"an upload onto a file", "PUT", overwriting, 405},
		{"no query", "GET", d.url + "/storage/files/a", 403},
		{"a second expiry", "GET", good + "&expires=9999999999", 403},
		{"a broken query", "GET", good + "&%zz", 403},
		{"a deeper key", "GET", strings.Replace(good, "files/a", "files/a/b", 1), 404},
		{"the folder", "GET", d.url + "/storage/files/", 404},
		{"the owner of the folder", "GET", strings.Replace(good, "files/a", "files/.database", 1), 403},
	} {
		header := map[string]string{}
		body := ""
		if c.method == "PUT" {
			header["Content-Type"], body = "text/plain", "new"
		}
		if response, text := d.do(t, c.method, strings.TrimPrefix(c.url, d.url), body, header); response.StatusCode != c.status {
			t.Errorf("%s: got %d %s, want %d", c.name, response.StatusCode, text, c.status)
		}
	}
	if _, body := d.do(t, "GET", strings.TrimPrefix(good, d.url), "", nil); body != "abc" {
		t.Errorf("the file after that: got %q", body)
	}
	log := d.log.String()
	for _, secret := range []string{"signature", "expires=", "uploads/a"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log has %q:\n%s", secret, log)
		}
	}
}

// Several ranges at once are ignored, so that they cost no more than the file.
func TestDiskRanges(t *testing.T) {
	t.Parallel()
	d := startDisk(t, disk.Options{}, nil)
	path := strings.TrimPrefix(d.keep(t, "a", "abcdef", plainText), d.url)
	for ranges, want := range map[string]string{
		"bytes=0-0,1-1":                        "200 abcdef",
		"bytes=" + strings.Repeat("0-,", 2000): "200 abcdef",
		"bytes=5-2":                            "200 abcdef",
		"bytes=a-b":                            "200 abcdef",
		"bytes=--1":                            "200 abcdef",
		"bytes=-":                              "200 abcdef",
		"pages=0-1":                            "200 abcdef",
		"BYTES=1-2":                            "206 bc",
		"bytes=99999999999999999999999999-":    "416 ",
		"bytes=1-99999999999999999999999999":   "206 bcdef",
		"bytes=-99999999999999999999999999":    "206 abcdef",
		"bytes=-0":                             "416 ",
		"bytes=6-":                             "416 ",
	} {
		response, body := d.do(t, "GET", path, "", map[string]string{"Range": ranges})
		if got := fmt.Sprint(response.StatusCode, " ", body); got != want {
			t.Errorf("%.40s: got %s, want %s", ranges, got, want)
		}
	}
	if response, _ := d.do(t, "GET", path, "", map[string]string{"Range": "bytes=6-"}); response.Header.Get("Content-Range") != "bytes */6" {
		t.Errorf("Content-Range of a range behind the end: got %s", response.Header.Get("Content-Range"))
	}
	head, _ := d.do(t, "HEAD", path, "", nil)
	etag, changed := head.Header.Get("ETag"), head.Header.Get("Last-Modified")
	if response, body := d.do(t, "GET", path, "", map[string]string{"If-Modified-Since": changed}); response.StatusCode != 304 || body != "" || response.Header.Get("ETag") != etag {
		t.Errorf("If-Modified-Since %s: got %d %q %v", changed, response.StatusCode, body, response.Header)
	}
	for ifRange, want := range map[string]int{etag: 206, `"other"`: 200, "W/" + etag: 200, changed: 206, "Thu, 01 Jan 1970 00:00:01 GMT": 200} {
		if response, _ := d.do(t, "GET", path, "", map[string]string{"Range": "bytes=0-1", "If-Range": ifRange}); response.StatusCode != want {
			t.Errorf("If-Range %s: got %d, want %d", ifRange, response.StatusCode, want)
		}
	}
	until(t, "each answer has given its place back", func() bool { return d.files.Downloads.InUse() == 0 })
}

// Slow downloads are not held in memory, and one client has a sixteenth of the places: others still get files. Uploads
// have places of their own. A client that takes nothing loses its place.
func attackWithDownloads(t *testing.T) {
	d := startDisk(t, disk.Options{}, func(c *config.Config) {
		c.TransfersLimit, c.TrustedProxies = 128, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	const size = 16 << 20
	url := d.keep(t, "a", strings.Repeat("x", size), plainText)
	before := heap()
	var slow []*rawConn
	for range 8 {
		c, status := d.begins(t, url)
		if status != 200 {
			t.Fatalf("got %d", status)
		}
		slow = append(slow, c)
	}
	if grown := heap() - before; grown > size/2 {
		t.Errorf("8 downloads of %d bytes take %d bytes", size, grown)
	}
	if c, status := d.begins(t, url); status != 503 {
		t.Errorf("a ninth download: got %d, want 503", status)
	} else {
		c.Close()
	}
	small := strings.TrimPrefix(d.keep(t, "b", "abc", plainText), d.url)
	if response, body := d.do(t, "GET", small, "", map[string]string{"X-Forwarded-For": "203.0.113.9"}); response.StatusCode != 200 {
		t.Errorf("a download by another client: got %d %s", response.StatusCode, body)
	}
	upload, err := d.store.UploadURL(t.Context(), "uploads/a", storage.Upload{ContentType: "text/plain", Size: 3, Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if response, body := d.do(t, "PUT", strings.TrimPrefix(upload, d.url), "abc", map[string]string{"Content-Type": "text/plain"}); response.StatusCode != 200 {
		t.Errorf("an upload: got %d %s", response.StatusCode, body)
	}
	if response, _ := d.do(t, "GET", "/healthz", "", nil); response.StatusCode != 200 {
		t.Errorf("healthz: got %d", response.StatusCode)
	}
	slow[0].Close()
	until(t, "the place of a client that left is given back", func() bool { return d.files.Downloads.InUse() < 8 })
	whole, err := io.ReadAll(io.LimitReader(slow[1].in, size))
	if err != nil || !bytes.Equal(whole, bytes.Repeat([]byte("x"), size)) {
		t.Errorf("a slow client got %d bytes, %v", len(whole), err)
	}
	until(t, "the places of clients that take nothing are given back", func() bool { return d.files.Downloads.InUse() == 0 })
}

// A server that stops waits for downloads, as for other requests.
func TestDiskDownloadOutlivesStop(t *testing.T) {
	t.Parallel()
	d := startDisk(t, disk.Options{}, nil)
	const size = 16 << 20
	c, _ := d.begins(t, d.keep(t, "a", strings.Repeat("x", size), plainText))
	d.stop()
	until(t, "the server stops", d.stopping.Load)
	if n, err := io.CopyN(io.Discard, c.in, size); err != nil {
		t.Errorf("got %d bytes, %v", n, err)
	}
}

// A full disk is a 503 and leaves nothing, for an exhausted reserve and for a disk without
// space.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	t.Run("reserve", func(t *testing.T) {
		t.Parallel()
		full(t, startDisk(t, disk.Options{Reserve: 1 << 62}, nil), 3)
	})
	t.Run("no space", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
			t.Skipf("needs root, to make a small disk: %v", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
		full(t, startDisk(t, disk.Options{Directory: dir}, nil), 2<<20)
	})
}

func full(t *testing.T, d *diskServer, size int) {
	for range 2 { // the second is as the first: nothing is left of that
		url, err := d.store.UploadURL(t.Context(), "uploads/a", storage.Upload{ContentType: "text/plain", Size: int64(size), Lifetime: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		response, body := d.do(t, "PUT", strings.TrimPrefix(url, d.url), strings.Repeat("x", size), map[string]string{"Content-Type": "text/plain"})
		if response.StatusCode != 503 || response.Header.Get("Retry-After") == "" || !strings.Contains(body, "ERR_UNAVAILABLE") {
			t.Errorf("upload: got %d %s", response.StatusCode, body)
		}
		if err := d.store.Put(t.Context(), "files/a", "text/plain", make([]byte, size)); !errors.Is(err, disk.ErrFull) {
			t.Errorf("put: got %v", err)
		}
	}
	d.waitLog(t, "the disk is full")
	if left := filesBelow(t, d.store.Directory); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// filesBelow lists the files of a folder and of the folders in it.
func filesBelow(t *testing.T, folder string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(name string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, strings.TrimPrefix(name, folder+"/"))
		}
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A folder belongs to one database: a server of another one, such as a copy, deletes nothing
// there.
func TestDiskIsClaimed(t *testing.T) {
	t.Parallel()
	s, d, _ := sweeper(t)
	store, err := disk.Open(disk.Options{Directory: t.TempDir(), BaseURL: "http://localhost", Secret: []byte("secret"), Spread: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"due10", "held"} {
		if err := store.Put(t.Context(), storage.Files+key, "text/plain", []byte("a")); err != nil {
			t.Fatal(err)
		}
	}
	s.files.Store = store
	owner := filepath.Join(store.Directory, disk.OwnerFile)
	if err := os.WriteFile(owner, []byte("database 5 of cluster 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sweepFiles(t, s, d); err == nil || !strings.Contains(err.Error(), "belongs to database 5 of cluster 1") {
		t.Errorf("sweep of what another database has claimed: got %v", err)
	}
	s.files.CheckStore(t.Context())
	s.waitLog(t, "unused files are not deleted")
	if why := store.Fleeting(); why != "" { // as /tmp may be
		s.waitLog(t, why)
	}
	if got := keysOf(t, store, storage.Files); got != "due10 held" {
		t.Errorf("files: got %s", got)
	}

	if err := os.Remove(owner); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := sweepFiles(t, s, d); err != nil {
			t.Fatal(err)
		}
	}
	if got := keysOf(t, store, storage.Files); got != "held" {
		t.Errorf("files: got %s", got)
	}
	// A Postgres without an identity disables the check, and not the sweep.
	if err := os.WriteFile(owner, []byte("database 5 of cluster 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Superuser(t).Exec(t.Context(), `revoke execute on function pg_catalog.pg_control_system() from public`); err != nil {
		t.Fatal(err)
	}
	if err := sweepFiles(t, s, d); err != nil {
		t.Errorf("sweep where Postgres does not say which one it is: %v", err)
	}
	faults, err := VerifyFiles(t.Context(), testConfig(d.ServerURL(), nil), "", files.VerifyOptions{Store: store})
	if err != nil || strings.Contains(strings.Join(faults, "\n"), "files/held ") {
		t.Errorf("verify: got %q, %v", faults, err)
	}
}
