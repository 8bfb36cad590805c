package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/disk"
	"github.com/sternpost/sternpost/storage/local"
)

// The limits of the field: @accepts(["image/*", "application/pdf"]) @maxSize("5 KB").
const (
	refusedType = `{"field":"%s","code":"contentType","params":{"given":"text/html","accepted":["image/*","application/pdf"]},"error":"content type text/html is not accepted"}`
	refusedSize = `{"field":"%s","code":"maxSize","params":{"limit":5000},"error":"must be at most 5000 bytes"}`
	emptySize   = `{"field":"%s","code":"minimum","params":{"limit":1},"error":"Must be greater than or equal to 1"}`
	notThere    = `{"field":"%s","code":"upload","error":"nothing has been uploaded for this key"}`
)

// TestUploadMatrix goes through declarations of a file, the content then sent or otherwise
// stored, and the place that refuses it: the upload route, the storage itself, or the call
// that attaches it.
func TestUploadMatrix(t *testing.T) {
	t.Parallel()
	type contents struct {
		contentType string
		size        int
	}
	nothing := contents{}
	png4 := contents{"image/png", 4}
	for _, backend := range []string{"bucket", "folder", "disk"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			a := serveForMatrix(t, backend)
			for i, c := range []struct {
				declared contents
				route    string // the refusal of field by the upload route; empty if it admits

				sent    contents // by PUT
				storage string

				stored contents // put there past the signed address, if any
				call   string   // the refusal of cover by the call; empty if it attaches
			}{
				// Refused by the route.
				{declared: contents{"text/html", 4}, route: fmt.Sprintf(refusedType, "contentType")},
				{declared: contents{"image/png", 5001}, route: fmt.Sprintf(refusedSize, "size")},
				{declared: contents{"text/html", 5001}, route: fmt.Sprintf(refusedType, "contentType") + "," + fmt.Sprintf(refusedSize, "size")},
				{declared: contents{"image/png", 0}, route: fmt.Sprintf(emptySize, "size")},

				// Sent as declared.
				{declared: png4, sent: png4, storage: "takes"},
				{declared: contents{"image/png", 1}, sent: contents{"image/png", 1}, storage: "takes"},
				{declared: contents{"application/pdf", 5000}, sent: contents{"application/pdf", 5000}, storage: "takes"},
				{declared: contents{"IMAGE/JPEG; a=b", 4}, sent: contents{"IMAGE/JPEG; a=b", 4}, storage: "takes"},

				// Sent with another type: refused by the storage, even if the field accepts it.
				{declared: png4, sent: contents{"image/jpeg", 4}, storage: "refuses", call: fmt.Sprintf(notThere, "cover")},
				{declared: png4, sent: contents{"text/html", 4}, storage: "refuses", call: fmt.Sprintf(notThere, "cover")},
				{declared: png4, sent: contents{"IMAGE/PNG", 4}, storage: "refuses", call: fmt.Sprintf(notThere, "cover")},
				{declared: png4, sent: contents{"image/png; a=b", 4}, storage: "refuses", call: fmt.Sprintf(notThere, "cover")},
				{declared: png4, sent: contents{"", 4}, storage: "refuses", call: fmt.Sprintf(notThere, "cover")},

				// Sent with another length: likewise.
				{declared: png4, sent: contents{"image/png", 3}, storage: "refuses", call: fmt.Sprintf(notThere, "cover")},
				{declared: png4, sent: contents{"image/png", 5}, storage: "refuses", call: fmt.Sprintf(notThere, "cover")},
				{declared: png4, sent: contents{"image/png", 0}, storage: "refuses", call: fmt.Sprintf(notThere, "cover")},
				{declared: png4, sent: contents{"image/png", 5001}, storage: "refuses", call: fmt.Sprintf(notThere, "cover")},

				// Not sent at all.
				{declared: png4, call: fmt.Sprintf(notThere, "cover")},

				// Stored otherwise, with access to the storage: the stored file counts, not the
				// declaration.
				{declared: png4, stored: contents{"text/html", 4}, call: fmt.Sprintf(refusedType, "cover")},
				{declared: png4, stored: contents{"image/png", 5001}, call: fmt.Sprintf(refusedSize, "cover")},
				{declared: png4, stored: contents{"text/html", 5001}, call: fmt.Sprintf(refusedType, "cover") + "," + fmt.Sprintf(refusedSize, "cover")},
				{declared: png4, stored: contents{"application/pdf", 5000}},
				{declared: png4, sent: png4, storage: "takes", stored: contents{"text/html", 4}, call: fmt.Sprintf(refusedType, "cover")},
				{declared: png4, sent: png4, storage: "takes", stored: contents{"image/gif", 7}},
			} {
				what := fmt.Sprintf("declared %v, sent %v, stored %v", c.declared, c.sent, c.stored)
				status, text := a.post(t, "createArticle/upload/cover", "", fmt.Sprintf(
					`{"filename":"a.png","contentType":%q,"size":%d}`, c.declared.contentType, c.declared.size))
				if checkEntries(t, what+": the upload route", status, text, c.route); status != http.StatusOK {
					continue
				}
				m := read[minted](t, text)
				if c.storage != "" {
					m.Headers["Content-Type"] = c.sent.contentType
					got := "refuses"
					status := put(t, m, strings.Repeat("x", c.sent.size))
					if status == http.StatusOK {
						got = "takes"
					}
					if got != c.storage || backend != "bucket" && got == "refuses" && status != http.StatusForbidden {
						t.Errorf("%s: the storage %s it, with status %d, want: %s", what, got, status, c.storage)
					}
				}
				is := c.sent
				if c.stored != nothing {
					is = c.stored
					if err := a.store.Put(t.Context(), storage.Uploads+m.Key, is.contentType, make([]byte, is.size)); err != nil {
						t.Fatal(err)
					}
				}
				status, text = a.post(t, "createArticle", "", fmt.Sprintf(`{"title":"%d","cover":"%s"}`, i, m.Key))
				if checkEntries(t, what+": the call", status, text, c.call); status != http.StatusOK {
					continue
				}
				if cover := read[article](t, text).Cover; cover.ContentType != is.contentType || cover.Size != int64(is.size) || cover.Filename != "a.png" {
					t.Errorf("%s: got %+v, want what is stored", what, cover)
				}
			}
		})
	}
}

// checkEntries expects an invalid input with the entries; none means success.
func checkEntries(t *testing.T, what string, status int, got, entries string) {
	t.Helper()
	if entries == "" && status == http.StatusOK {
		return
	}
	want := `{"code":"ERR_INVALID_INPUT","message":"one or more errors found validating request object","data":{"errors":[` + entries + `]}}`
	if status != http.StatusBadRequest || got != want {
		t.Errorf("%s\n got %d %s\nwant 400 %s", what, status, got, want)
	}
}

// serveForMatrix serves the schema with files, and knows the store of each backend.
func serveForMatrix(t *testing.T, backend string) *filesApp {
	t.Helper()
	unlimited := []string{"STERNPOST_UPLOADS_MAX_OUTSTANDING_ANONYMOUS=1000"}
	if backend == "bucket" {
		how := onBucket(t)
		how.env = unlimited
		return serveFiles(t, how)
	}
	directory := t.TempDir()
	if backend == "disk" {
		how := onDisk()
		how.env = append(append(how.env, unlimited...), "STERNPOST_STORAGE_DIRECTORY="+directory)
		a := serveFiles(t, how)
		store, err := disk.Open(disk.Options{Directory: directory, Spread: true})
		if err != nil {
			t.Fatal(err)
		}
		a.store = store
		return a
	}
	a := serveFiles(t, serving{env: append(unlimited, "STERNPOST_STORAGE_DIRECTORY="+directory)})
	store, err := local.Open(local.Options{Directory: directory})
	if err != nil {
		t.Fatal(err)
	}
	a.store = store
	return a
}
