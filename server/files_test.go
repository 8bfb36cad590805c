package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sternpost/sternpost/server/files"
	"github.com/sternpost/sternpost/server/queue"
	"github.com/sternpost/sternpost/storage"
	"github.com/sternpost/sternpost/storage/local"
)

// Tests of storage keep objects in a folder.
func localStore(t *testing.T) *local.Store {
	t.Helper()
	store, err := local.Open(local.Options{Directory: t.TempDir(), BaseURL: "http://localhost", Secret: []byte("secret")})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// row runs a statement that returns one value.
func (d *testDatabase) row(t *testing.T, statement string, into any) {
	t.Helper()
	if err := d.Owner(t).QueryRow(t.Context(), statement).Scan(into); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// keysOf lists the objects below a prefix.
func keysOf(t *testing.T, store storage.Store, prefix string) string {
	t.Helper()
	var keys []string
	for e, err := range store.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, strings.TrimPrefix(e.Key, prefix))
	}
	return strings.Join(keys, " ")
}

// broken is a store that cannot delete.
type broken struct{ *local.Store }

func (broken) Delete(context.Context, string) error { return errors.New("storage is away") }

// sweepFiles deletes the files and uploads that are due, also those that were tried before.
func sweepFiles(t *testing.T, s *testServer, d *testDatabase) error {
	d.exec(t, `update platform.task set due_at = least(due_at, now()) where kind in ('file', 'upload') and attempts > 0`)
	for _, kind := range s.files.Deletions() {
		q := queue.New(queue.Options{DB: s.db, Process: func() *int32 { return nil }}, kind)
		if err := q.Drain(t.Context()); err != nil {
			return err
		}
	}
	return nil
}

// sweeper is a server with files and uploads in all states; those named due are to be
// deleted.
func sweeper(t *testing.T) (*testServer, *testDatabase, *local.Store) {
	t.Helper()
	d := newDatabase(t)
	d.install(t, app())
	d.exec(t, `
		select platform.file_enter(array(select 'due' || n from generate_series(10, 70) as n));
		update platform.file set released_at = now() - interval '2 hours';
		select platform.file_enter('{held,new,recent}');
		create table app.holder (file jsonb);
		alter table app.holder enable row level security;
		create trigger _200_files after insert or update or delete on app.holder for each row execute function platform.tg_files('file');
		insert into app.holder values ('{"key": "held"}');
		update platform.file set released_at = now() - interval '10 minutes' where key = 'recent';
		select platform.file_mint(jsonb_build_object('key', key, 'action', 'a', 'field', 'f', 'identityId', 'ada',
			'filename', 'a', 'contentType', 'a/b', 'size', 1), 1000, '1 hour')
		from unnest(array['dueAttached', 'dueExpired', 'minted', 'expired'] || array(select 'due' || n from generate_series(10, 40) as n)) as key;
		select platform.file_attach('{"uploads": [{"key": "dueAttached"}]}');
		update platform.file_upload set expires_at = now() - interval '61 minutes' where key like 'due%' and key <> 'dueAttached';
		update platform.file_upload set expires_at = now() - interval '10 minutes' where key = 'expired';
		update platform.task set due_at = now() where kind = 'file' or key like 'due%';
	`)
	store := localStore(t)
	put := func(key string) {
		if err := store.Put(t.Context(), key, "text/plain", []byte("a")); err != nil {
			t.Fatal(err)
		}
	}
	for n := 10; n <= 70; n++ {
		put(fmt.Sprintf("files/due%d", n))
	}
	for n := 10; n <= 40; n += 2 { // of the others nothing was sent
		put(fmt.Sprintf("uploads/due%d", n))
	}
	for _, key := range []string{"files/held", "files/new", "files/recent", "uploads/dueAttached", "uploads/dueExpired", "uploads/minted", "uploads/expired"} {
		put(key)
	}
	s := start(t, d.ServerURL(), nil)
	s.files.Store = store
	s.config.Storage.DeleteDelay = time.Hour
	return s, d, store
}

func TestSweep(t *testing.T) {
	t.Parallel()
	s, d, store := sweeper(t)

	// While storage is away, no key is forgotten.
	s.files.Store = broken{store}
	if err := sweepFiles(t, s, d); err == nil || !strings.Contains(err.Error(), "storage is away") {
		t.Errorf("sweep without storage: got %v", err)
	}
	var files int
	if d.row(t, `select count(*) from platform.file`, &files); files != 64 {
		t.Errorf("files after a sweep without storage: got %d, want 64", files)
	}

	// Two servers at the same time.
	s.files.Store = store
	ended := make(chan error, 2)
	for range 2 {
		go func() { ended <- sweepFiles(t, s, d) }()
	}
	for range 2 {
		if err := <-ended; err != nil {
			t.Errorf("sweep: %v", err)
		}
	}
	if err := sweepFiles(t, s, d); err != nil { // what one skipped as the other was at it
		t.Errorf("sweep: %v", err)
	}
	if got, want := keysOf(t, store, storage.Files), "held new recent"; got != want {
		t.Errorf("objects of files: got %q, want %q", got, want)
	}
	if got, want := keysOf(t, store, storage.Uploads), "expired minted"; got != want {
		t.Errorf("objects of uploads: got %q, want %q", got, want)
	}
	var rows string
	if d.row(t, `select string_agg(key, ' ' order by key) from platform.file`, &rows); rows != "held new recent" {
		t.Errorf("rows of files: got %q", rows)
	}
	if d.row(t, `select string_agg(key, ' ' order by key collate "C") from platform.file_upload`, &rows); rows != "dueAttached expired minted" {
		t.Errorf("rows of uploads: got %q", rows)
	}
}

func TestVerifyFiles(t *testing.T) {
	t.Parallel()
	_, d, store := sweeper(t)
	config := testConfig(d.ServerURL(), nil)
	verify := func(age time.Duration) string {
		t.Helper()
		faults, err := VerifyFiles(t.Context(), config, "", files.VerifyOptions{Store: store, Age: age})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(faults, "\n")
	}
	if got := verify(time.Nanosecond); got != "" {
		t.Errorf("verify: got\n%s", got)
	}
	for _, key := range []string{"files/due10", "files/held", "uploads/minted"} { // only one of them is needed
		if err := store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"files/a", "files/z", "uploads/nobody"} {
		if err := store.Put(t.Context(), key, "text/plain", []byte("abc")); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(time.Millisecond)
	want := "object files/a, of 3 bytes, belongs to no row\n" +
		"object files/held is missing, but the database refers to it\n" +
		"object files/z, of 3 bytes, belongs to no row\n" +
		"object uploads/nobody, of 3 bytes, belongs to no row"
	if got := verify(time.Nanosecond); got != want {
		t.Errorf("verify\n got %s\nwant %s", got, want)
	}
	// A young object may be an upload in progress.
	if got, want := verify(0), "object files/held is missing, but the database refers to it"; got != want {
		t.Errorf("verify what is older than a day\n got %s\nwant %s", got, want)
	}
	// More than one page.
	d.exec(t, `select platform.file_enter(array(select 'many' || lpad(n::text, 4, '0') from generate_series(1, 2500) as n));
		insert into app.holder select jsonb_build_object('key', key) from unnest(array['many0001', 'many1000', 'many1001', 'many2500']) as key`)
	if got := strings.Count(verify(0), "missing"); got != 5 {
		t.Errorf("verify several pages: %d missing, want 5", got)
	}
}

// Files with a wrong count, as after a dropped table, are counted again on request. Then
// unused ones are deleted.
func TestVerifyRecounts(t *testing.T) {
	t.Parallel()
	s, d, store := sweeper(t)
	config := testConfig(d.ServerURL(), nil)
	d.exec(t, `drop table app.holder`)
	for _, c := range []struct {
		recount bool
		want    string
	}{
		{false, "file held is named by 0 fields of rows, and counted as named by 1"},
		{true, ""},
		{false, ""},
	} {
		faults, err := VerifyFiles(t.Context(), config, "", files.VerifyOptions{Store: store, Age: time.Nanosecond, Recount: c.recount})
		if got := strings.Join(faults, "\n"); err != nil || got != c.want {
			t.Errorf("verify, recount %t\n got %s, %v\nwant %s", c.recount, got, err, c.want)
		}
	}
	s.config.Storage.DeleteDelay = 0
	if err := sweepFiles(t, s, d); err != nil {
		t.Fatal(err)
	}
	if got, want := keysOf(t, store, storage.Files), "new"; got != want {
		t.Errorf("objects of files after a sweep: got %q, want %q", got, want)
	}
}
