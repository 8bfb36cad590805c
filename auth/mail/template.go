package mail

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	html "html/template"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	text "text/template"

	"golang.org/x/text/language"
)

// The mails, as their templates are named.
const (
	ResetPassword = "resetPassword" // has the token that sets a new password
	VerifyEmail   = "verifyEmail"   // has the token that proves the address
	ChangeEmail   = "changeEmail"   // the same, for the new address of an identity
	EmailChanged  = "emailChanged"  // informs the former address of the identity
)

// names lists the mails.
var names = []string{ResetPassword, VerifyEmail, ChangeEmail, EmailChanged}

// Data is what a template can show.
type Data struct {
	Link  string // the target of the mail; empty for EmailChanged
	Email string // the address in question; the new one for EmailChanged
}

// Content is a mail without its recipient.
type Content struct {
	Subject string
	Text    string
	HTML    string // empty means none
}

//go:embed templates
var builtIn embed.FS

// Templates are the templates of all mails. They may be used concurrently.
type Templates struct {
	mails map[string]*versions // by name
}

// versions are the templates of one mail, by language. The first one is for readers of any
// other language.
type versions struct {
	tags    []language.Tag
	parts   []*parts
	matcher language.Matcher
}

// parts are the templates of one mail in one language.
type parts struct {
	text *text.Template
	html *html.Template // nil means none
}

// ReadTemplates reads the templates of a project from a folder, each a file <name>[.<language>].(txt|html).
// They replace the templates of Sternpost; folder may be nil for none. It fails, with all reasons, each a
// FileError, on a file that is not a template, and on a template that does not work.
func ReadTemplates(folder fs.FS) (*Templates, error) {
	own, err := fs.Sub(builtIn, "templates")
	if err != nil {
		return nil, err
	}
	found, err := readFolder(own)
	if err != nil {
		return nil, err
	}
	replaced := map[string]map[string]*parts{}
	if folder != nil {
		if replaced, err = readFolder(folder); err != nil {
			return nil, err
		}
	}

	t := &Templates{mails: map[string]*versions{}}
	for _, name := range names {
		v := &versions{tags: []language.Tag{language.English}, parts: []*parts{found[name][""]}}
		if p := replaced[name][""]; p != nil {
			v.tags[0], v.parts[0] = language.Und, p
		}
		for _, tag := range sortedTags(replaced[name]) {
			v.tags, v.parts = append(v.tags, language.MustParse(tag)), append(v.parts, replaced[name][tag])
		}
		v.matcher = language.NewMatcher(v.tags)
		t.mails[name] = v
	}
	return t, nil
}

func sortedTags(byLanguage map[string]*parts) []string {
	var tags []string
	for tag := range byLanguage {
		if tag != "" {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	return tags
}

// isTemplate finds name, language and kind in the name of a file.
var isTemplate = regexp.MustCompile(`^(` + strings.Join(names, "|") + `)(?:\.([A-Za-z0-9-]+))?\.(txt|html)$`)

// readFolder reads the templates of a folder, by name and language. It skips files that
// begin with a dot.
func readFolder(folder fs.FS) (map[string]map[string]*parts, error) {
	entries, err := fs.ReadDir(folder, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the templates of mails: %w", err)
	}
	found := map[string]map[string]*parts{}
	var problems []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := readTemplate(folder, e.Name(), found); err != nil {
			problems = append(problems, &FileError{path.Join("mail", e.Name()), err})
		}
	}
	for _, name := range names {
		for tag, p := range found[name] {
			if p.text == nil && p.html != nil {
				problems = append(problems, &FileError{path.Join("mail", fileName(name, tag, "html")),
					fmt.Errorf("the file %s, which has the subject, is missing", fileName(name, tag, "txt"))})
			}
		}
	}
	return found, errors.Join(problems...)
}

// FileError is the fault of a template's file.
type FileError struct {
	File string // in the folder of the project: mail/verify.txt
	Err  error
}

// Error names the file.
func (e *FileError) Error() string { return e.File + ": " + e.Err.Error() }

// Unwrap returns the fault.
func (e *FileError) Unwrap() error { return e.Err }

// Line returns the line of the fault, as the packages of templates write it; 0 for none.
func (e *FileError) Line() int {
	match := lineOfTemplate.FindStringSubmatch(e.Err.Error())
	if match == nil || !strings.HasSuffix(e.File, "/"+match[1]) {
		return 0
	}
	line, _ := strconv.Atoi(match[2])
	return line
}

var lineOfTemplate = regexp.MustCompile(`template: ?([^:]+):(\d+)`)

// fileName returns the name of a template's file.
func fileName(name, tag, kind string) string {
	if tag != "" {
		name += "." + tag
	}
	return name + "." + kind
}

// readTemplate reads one file, and tries its template.
func readTemplate(folder fs.FS, file string, found map[string]map[string]*parts) error {
	match := isTemplate.FindStringSubmatch(file)
	if match == nil {
		return fmt.Errorf("must be named <name>[.<language>].txt or .html, where name is one of %s", strings.Join(names, ", "))
	}
	name, tag := match[1], match[2]
	if tag != "" {
		if _, err := language.Parse(tag); err != nil {
			return fmt.Errorf("%q is not a language tag such as de or pt-BR", tag)
		}
	}
	source, err := fs.ReadFile(folder, file)
	if err != nil {
		return err
	}
	if found[name] == nil {
		found[name] = map[string]*parts{}
	}
	p := found[name][tag]
	if p == nil {
		p = &parts{}
		found[name][tag] = p
	}
	sample := Data{Link: "https://example.com/?token=t", Email: "ada@example.com"}
	if match[3] == "html" {
		if p.html, err = html.New(file).Parse(string(source)); err != nil {
			return err
		}
		return p.html.Execute(io.Discard, sample)
	}
	if p.text, err = text.New(file).Parse(string(source)); err != nil {
		return err
	}
	_, err = (&parts{text: p.text}).write(sample)
	return err
}

// Write writes a mail in the available language that its reader prefers. languages is a
// header Accept-Language.
func (t *Templates) Write(name, languages string, data Data) (Content, error) {
	v := t.mails[name]
	wanted, _, err := language.ParseAcceptLanguage(languages)
	if err != nil {
		wanted = nil // it is only a preference
	}
	_, at, confidence := v.matcher.Match(wanted...)
	if confidence == language.No {
		at = 0
	}
	content, err := v.parts[at].write(data)
	if err != nil {
		return Content{}, fmt.Errorf("write the mail %s: %w", name, err)
	}
	return content, nil
}

// write fills the templates. The first line of the text is the subject.
func (p *parts) write(data Data) (Content, error) {
	var b bytes.Buffer
	if err := p.text.Execute(&b, data); err != nil {
		return Content{}, err
	}
	first, rest, _ := strings.Cut(strings.ReplaceAll(b.String(), "\r\n", "\n"), "\n")
	subject, ok := strings.CutPrefix(first, "Subject: ")
	if !ok || strings.TrimSpace(subject) == "" || !strings.HasPrefix(rest, "\n") {
		return Content{}, errors.New(`the first line must be "Subject: " and the subject, and the second must be empty`)
	}
	c := Content{Subject: strings.TrimSpace(subject), Text: strings.TrimPrefix(rest, "\n")}
	if p.html != nil {
		b.Reset()
		if err := p.html.Execute(&b, data); err != nil {
			return Content{}, err
		}
		c.HTML = b.String()
	}
	return c, nil
}
