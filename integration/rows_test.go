package integration

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sternpost/sternpost/integration/pgtest"
	"github.com/sternpost/sternpost/integration/program"
)

// rowsSchema is a schema whose rows refer to each other, hold files, and are not for everyone.
const rowsSchema = `model Owner {
  fields {
    name Text @unique
    things Thing[]
  }
  actions {
    get getOwner(id)
    update renameOwner(id) with (name)
  }
  @permission(expression: ctx.isAuthenticated, actions: [get, update])
}

model Thing {
  fields {
    owner Owner
    title Text
    photo File? @accepts(["image/*"]) @maxSize("1 MB")
    code Text @hidden @default("locked away")
  }
  actions {
    create addThing() with (owner.id, title, photo?)
    list listThings(title?) {
      @allow(MissingIndex)
    }
  }
  @permission(expression: true, actions: [create])
  @permission(expression: ctx.isAuthenticated, actions: [list])
}

model Shelf {
  fields {
    room Text
  }
}
`

// TestRowsInBrowser looks at the rows of a project that sternpost dev serves, changes them,
// sees as an identity, and breaks and mends the schema, with Chromium.
func TestRowsInBrowser(t *testing.T) {
	const consequence = "no browser looks at rows"
	t.Parallel()
	browser := findBrowser(t, consequence)
	project := t.TempDir()
	schema := filepath.Join(project, "schema.stern")
	if err := os.WriteFile(schema, []byte(rowsSchema), 0o644); err != nil {
		t.Fatal(err)
	}
	base := develop(t, project)
	want := `overview: 4 models, 19 actions in 1 API, 0 rows. true
warnings: 2 warnings of the compiler
owners: Ada Grace Linus
once more: the value for the unique field 'name' must be unique
proposed: Grace
chosen: Grace
by an action: 200
files: a.png (73 B)
hidden: code hidden, locked away
to one: Grace
to many: ownerId is … ×
descending: Linus Grace Ada
filtered: Grace Ada
changed: Margaret Grace Ada
refused: 403 not authorized to access. Explain why
explained: renameOwner (update of Owner) called by an anonymous caller / 403, refused before any row is read: none of its rules can hold
anonymous: 403: not authorized to access. Explain why
as ada@example.com a hammer listThings as ada@example.com
renamed: Ada L.
deleted: Ada L. Grace
as the other: ada@example.com (https://login.example)
and as the first: ada@example.com (its id)
without actions: cellar
signed in: second factors: none / session: node, …
trouble: The project’s files cannot be installed. The server still serves release 1.
release 2: id ownerId title size photo createdAt updatedAt
outside: nothing
complaints: none
`
	browse(t, browser, want, "rows.mjs", base, schema)
}

// commandDir is the folder of the built command, which TestMain removes.
var commandDir string

// buildCommand returns the path of the command, which is built once for all tests.
func buildCommand(t *testing.T) string {
	t.Helper()
	path, err := builtCommand()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var builtCommand = sync.OnceValues(func() (path string, err error) {
	if commandDir, err = os.MkdirTemp("", "sternpost-command-"); err != nil {
		return "", err
	}
	path = filepath.Join(commandDir, "sternpost")
	if out, err := exec.Command("go", "build", "-o", path, "../cmd/sternpost").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build sternpost: %w\n%s", err, out)
	}
	return path, nil
})

// develop runs sternpost dev on a project with a database of its own, and returns its address.
func develop(t *testing.T, project string) string {
	t.Helper()
	binary, port := buildCommand(t), program.FreePort(t)
	dev := exec.Command(binary, "dev", "--yes", "--port", port, project)
	dev.Env = append(os.Environ(), "DATABASE_URL="+pgtest.New(t, pgtest.Options{}).OwnerURL(), "STERNPOST_ADMIN_PORT=0")
	p := program.Start(t, dev)
	t.Cleanup(func() {
		if err := p.End(t, os.Interrupt); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	})
	a := &app{url: "http://127.0.0.1:" + port, client: http.DefaultClient}
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if response, _, err := a.try(t.Context(), "GET", "/readyz", nil, ""); err == nil && response.StatusCode == 200 {
			return a.url
		}
	}
	t.Fatalf("sternpost dev does not serve %s:\n%s", project, p.Out)
	return ""
}
