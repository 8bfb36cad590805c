package mail

import (
	"embed"
	"errors"
	"fmt"
	html "html/template"
	"io"
	"io/fs"
	"maps"
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
	Invitation    = "invitation"    // has the token by which the address is signed in or up
)

// names lists the mails of accounts.
var names = []string{ResetPassword, VerifyEmail, ChangeEmail, EmailChanged, Invitation}

// IsOfAccounts tells whether a mail is one of accounts. All others are sent by the code of a project.
func IsOfAccounts(name string) bool { return slices.Contains(names, name) }

// Data is what the template of a mail of accounts can show.
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
	subject, text *text.Template // of one file
	html          *html.Template // nil means none
}

// ReadTemplates reads the templates of a project from a folder, each a file <name>[.<language>].(txt|html). Those of
// accounts replace the templates of Sternpost; folder may be nil for none. It fails, with all reasons, each a
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
	for _, name := range slices.Concat(names, slices.Collect(maps.Keys(replaced))) {
		v := &versions{tags: []language.Tag{language.English}, parts: []*parts{found[name][""]}}
		if p := replaced[name][""]; p != nil {
			v.tags[0], v.parts[0] = language.Und, p
		}
		for _, tag := range slices.Sorted(maps.Keys(replaced[name])) {
			if tag != "" {
				v.tags, v.parts = append(v.tags, language.MustParse(tag)), append(v.parts, replaced[name][tag])
			}
		}
		v.matcher = language.NewMatcher(v.tags)
		t.mails[name] = v
	}
	return t, nil
}

// Has tells whether there are templates of a mail.
func (t *Templates) Has(name string) bool { return t.mails[name] != nil }

// isTemplate finds name, language and kind in the name of a file.
var isTemplate = regexp.MustCompile(`^([a-z][A-Za-z0-9]*)(?:\.([A-Za-z0-9-]+))?\.(txt|html)$`)

// NameOf returns the name of the mail whose text is in a file of that name; empty if it is not such a file.
func NameOf(file string) string {
	if match := isTemplate.FindStringSubmatch(file); match != nil && match[3] == "txt" {
		return match[1]
	}
	return ""
}

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
	for _, name := range slices.Sorted(maps.Keys(found)) {
		for _, tag := range slices.Sorted(maps.Keys(found[name])) {
			if p := found[name][tag]; p.text == nil && p.html != nil {
				problems = append(problems, &FileError{path.Join("mail", fileName(name, tag, "html")),
					fmt.Errorf("the file %s, which has the subject, is missing", fileName(name, tag, "txt"))})
			} else if found[name][""] == nil && !IsOfAccounts(name) {
				problems = append(problems, &FileError{path.Join("mail", fileName(name, tag, "txt")),
					fmt.Errorf("the file %s, for readers of all other languages, is missing", fileName(name, "", "txt"))})
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
		return fmt.Errorf("must be named <name>[.<language>].txt or .html, where name is in lower camel case")
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
	if match[3] == "html" {
		p.html, err = html.New(file).Option("missingkey=error").Parse(string(source))
	} else {
		err = p.readText(file, string(source))
	}
	if err != nil {
		return err
	}
	return p.try(name)
}

// readText reads the file of subject and text. They are templates of their own, so that no value makes a part of the
// subject the text.
func (p *parts) readText(file, source string) (err error) {
	first, rest, _ := strings.Cut(strings.ReplaceAll(source, "\r\n", "\n"), "\n")
	subject, ok := strings.CutPrefix(first, "Subject: ")
	if !ok || strings.TrimSpace(subject) == "" || !strings.HasPrefix(rest, "\n") {
		return errors.New(`the first line must be "Subject: " and the subject, and the second must be empty`)
	}
	if p.subject, err = text.New(file).Option("missingkey=error").Parse(subject); err != nil {
		return err
	}
	p.text, err = text.New(file).Option("missingkey=error").Parse("\n" + rest) // with the lines of the file
	return err
}

// try fills the templates that there are. What code will fill a template with is not known, so only the form of such a
// template is tried.
func (p *parts) try(name string) error {
	isOfAccounts := IsOfAccounts(name)
	var data any = Data{Link: "https://example.com/?token=t", Email: "ada@example.com"}
	if !isOfAccounts {
		data = map[string]any{}
	}
	if p.html != nil {
		err := p.html.Execute(io.Discard, data)
		if ofForm := (*html.Error)(nil); isOfAccounts || errors.As(err, &ofForm) {
			return err
		}
	}
	if p.text == nil || !isOfAccounts {
		return nil
	}
	_, err := (&parts{subject: p.subject, text: p.text}).write(data)
	return err
}

// Write writes a mail in the available language that its reader prefers. languages is a
// header Accept-Language.
func (t *Templates) Write(name, languages string, data any) (Content, error) {
	v := t.mails[name]
	if v == nil {
		return Content{}, fmt.Errorf("there is no template mail/%s", fileName(name, "", "txt"))
	}
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

// write fills the templates. The subject becomes one line.
func (p *parts) write(data any) (c Content, err error) {
	var subject, body, page strings.Builder
	if err := errors.Join(p.subject.Execute(&subject, data), p.text.Execute(&body, data)); err != nil {
		return Content{}, err
	}
	if p.html != nil {
		err = p.html.Execute(&page, data)
	}
	c = Content{strings.Join(strings.Fields(subject.String()), " "), strings.TrimPrefix(body.String(), "\n\n"), page.String()}
	if err == nil && c.Subject == "" {
		err = errors.New("the subject is empty")
	}
	return c, err
}
