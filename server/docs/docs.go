package docs

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"html/template"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/swaggest/swgui/v5/static"

	"github.com/sternpost/sternpost/auth/mail"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/sql/release"
)

// The pages for developers: at / the running application, at /docs the reference of its
// APIs. The setting docs enables them, and they hide nothing: neither rules nor SQL.

//go:embed *.html *.css *.js
var docsFiles embed.FS

// PagePolicy lets a page use content from its own origin. Swagger UI has its icons in its
// style sheet.
const PagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Database is the part of the database that the pages need.
type Database interface {
	// QueryRow runs a statement that returns one row.
	QueryRow(statement string, arguments []any, into ...any) error
}

// Options configure the pages.
type Options struct {
	Config *config.Config
	DB     Database
	Policy *request.Policy

	// OpenMail returns a stored mail of a name.
	OpenMail func(name string, kept []byte) (mail.Content, error)

	// Release returns the served release; nil if there is none.
	Release func() (number int64, m *release.Manifest)

	// Data answers the pages' questions about rows; nil means that they show none. It is
	// used in development only.
	Data Data

	// IssueToken makes an access token for an identity.
	IssueToken func(identityID string) (token string, expires time.Time, err error)

	// FileURL returns the address for the contents of a stored file.
	FileURL func(key, filename, contentType string) (string, error)
}

// Pages are the pages, ready to be sent.
type Pages struct {
	Options
	pages  func() map[string]*template.Template // by name
	assets func() map[string]*asset             // by name below /docs/
}

// asset is a file that pages use.
type asset struct {
	kind   string
	etag   string
	text   []byte
	zipped []byte // kept instead of the text, if not nil
}

// ownAssets are the style sheets and scripts of this folder.
var ownAssets = []string{
	"pages.css", "application.css", "reference.css", "reference.js", "problem.js", "caller.js", "frame.js", "palette.js",
	"form.js", "json.js", "sql.js", "action.js", "rows.js", "events.js", "overview.js",
}

// swaggerFiles are the files of Swagger UI that the reference uses.
var swaggerFiles = []string{"swagger-ui-bundle.js", "swagger-ui.css"}

// New makes the pages. They are read from the binary at the first request.
func New(o Options) *Pages {
	return &Pages{Options: o, pages: sync.OnceValue(readPages), assets: sync.OnceValue(readAssets)}
}

func readPages() map[string]*template.Template {
	pages := map[string]*template.Template{}
	for _, name := range []string{"application", "access", "model", "action", "rows", "reference", "mail", "events", "jobs", "problem"} {
		file := name + ".html"
		pages[name] = template.Must(template.New(file).Funcs(template.FuncMap{"lines": paragraphs, "list": func(values ...any) []any { return values }}).ParseFS(docsFiles, file, "frame.html"))
	}
	return pages
}

func readAssets() map[string]*asset {
	assets := map[string]*asset{}
	for _, name := range ownAssets {
		text, err := docsFiles.ReadFile(name)
		if err != nil {
			panic(fmt.Sprintf("server: read %s: %v", name, err)) // it is part of the binary
		}
		assets[name] = newAsset(name, text, nil)
	}
	for _, name := range swaggerFiles {
		zipped, err := static.FS.ReadFile(name + ".gz")
		if err != nil {
			panic(fmt.Sprintf("server: read %s: %v", name, err))
		}
		assets[name] = newAsset(name, nil, zipped)
	}
	return assets
}

func newAsset(name string, text, zipped []byte) *asset {
	content := text
	if zipped != nil {
		content = zipped
	}
	return &asset{
		kind:   mime.TypeByExtension(path.Ext(name)),
		etag:   request.NewDocument(content).ETag,
		text:   text,
		zipped: zipped,
	}
}

// paragraphs splits a doc comment at blank lines.
func paragraphs(doc string) []string {
	var list []string
	for p := range strings.SplitSeq(doc, "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			list = append(list, p)
		}
	}
	return list
}

// Routes lists the paths of the pages.
func (s *Pages) Routes(app *fiber.App) {
	page := func(show fiber.Handler) fiber.Handler { return s.Policy.ForDevelopers(s.Policy.Page(show)) }
	app.All("/", page(s.orProblem(s.applicationPage)))
	if s.Config.Mode == config.Development {
		app.All(mailPath, s.Policy.ForOwnOrigin("mails", s.Policy.Page(s.orProblem(s.mailPage))))
		app.All(eventsPath, s.Policy.ForOwnOrigin("events", s.Policy.Page(s.orProblem(s.eventsPage))))
		app.All(jobsPath, s.Policy.ForOwnOrigin("jobs", s.Policy.Page(s.orProblem(s.jobsPage))))
	}
	s.dataRoutes(app)
	app.All("/docs", page(s.orProblem(s.referencePage)))
	app.All("/docs/access", page(s.orProblem(s.accessPage)))
	app.All("/docs/model/:model", page(s.orProblem(s.modelPage)))
	app.All("/docs/action/:action", page(s.orProblem(s.actionPage)))
	if s.hasRows() {
		app.All("/docs/rows/:model", page(s.orProblem(s.rowsPage)))
	}
	app.All("/docs/index", page(s.index))
	app.All("/docs/samples", page(s.samples))
	app.All("/docs/sql", page(s.allSQL))
	app.All("/docs/sql/:action", page(s.actionSQL))
	app.All("/docs/table/:table", page(s.tableSQL))
	app.All("/docs/:asset", page(s.asset))
}

// orProblem also shows a page to a browser if the service fails, or if the subject of the
// page is missing: with the status of the failure.
func (s *Pages) orProblem(show fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		err := show(c)
		if err == nil {
			return nil
		}
		refused := refusal.Of(err)
		isMissing := refused.Status == http.StatusNotFound
		if refused.Status < http.StatusInternalServerError && !isMissing {
			return err
		}
		r := request.Of(c)
		s.Policy.Answer(c.Context(), r, refused)
		number, m := s.Release()
		return sendPage(c, s.pages()["problem"], struct {
			frame
			Message, RequestID string
			IsAway             bool // temporarily
			IsMissing          bool
		}{s.frame(number, m, "", strings.Count(c.Path(), "/")-1), refused.Message, r.ID, refused.Status > http.StatusInternalServerError, isMissing})
	}
}

// asset serves a file of the pages.
func (s *Pages) asset(c *fiber.Ctx) error {
	a := s.assets()[c.Params("asset")]
	if a == nil {
		return &refusal.ActionNotFound
	}
	c.Set("ETag", a.etag)
	c.Set("Cache-Control", "no-cache")
	if request.IsKnown(c.Get("If-None-Match"), a.etag) {
		c.Status(http.StatusNotModified)
		return nil
	}
	c.Set("Content-Type", a.kind)
	switch {
	case a.zipped == nil:
		c.Response().SetBodyRaw(a.text)
	case strings.Contains(c.Get("Accept-Encoding"), "gzip"):
		c.Set("Content-Encoding", "gzip")
		c.Set("Vary", "Accept-Encoding")
		c.Response().SetBodyRaw(a.zipped)
	default:
		text, err := unzip(a.zipped)
		if err != nil {
			return fmt.Errorf("read %s: %w", c.Params("asset"), err)
		}
		c.Set("Vary", "Accept-Encoding")
		c.Response().SetBodyRaw(text)
	}
	return nil
}

func unzip(zipped []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// sendPage fills a template in.
func sendPage(c *fiber.Ctx, page *template.Template, data any) error {
	var b bytes.Buffer
	if err := page.Execute(&b, data); err != nil {
		return fmt.Errorf("write the page %s: %w", page.Name(), err)
	}
	c.Set("Content-Security-Policy", PagePolicy)
	c.Set("Content-Type", "text/html; charset=utf-8")
	c.Response().SetBodyRaw(b.Bytes())
	return nil
}

// referencePage shows the description of an API with Swagger UI.
func (s *Pages) referencePage(c *fiber.Ctx) error {
	f, m, err := s.served("", 0)
	if err != nil {
		return err
	}
	data := struct {
		frame
		IsOff bool
		Shown string // the path of the API
	}{frame: f, IsOff: s.Config.OpenAPI == config.OpenAPIOff}
	asked := c.Query("api")
	for i, a := range m.APIs {
		if a.Path == asked || asked == "" && i == 0 {
			data.Shown = a.Path
		}
	}
	if data.Shown == "" && asked != "" {
		return &refusal.ActionNotFound
	}
	return sendPage(c, s.pages()["reference"], data)
}
