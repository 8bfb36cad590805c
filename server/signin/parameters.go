package signin

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
)

// readParameters reads the body of a request to an OAuth endpoint that takes POST: a
// form, or a flat JSON object. Empty parameters are left out. It returns nil for a
// preflight, which it has answered.
func (s *Service) readParameters(c *fiber.Ctx) (map[string]string, error) {
	if s.Policy.IsPreflight(c) {
		return nil, request.Preflight(c, nil)
	}
	if c.Method() != fiber.MethodPost {
		return nil, refusal.NotAllowed(fiber.MethodPost)
	}
	if !s.hasRelease() { // identities come with a release
		return nil, &refusal.Unavailable
	}
	body, err := s.Policy.ReadBody(c)
	if err != nil {
		return nil, err
	}
	var parameters map[string]string
	switch bodyForm(&c.Request().Header) {
	case FormBody:
		parameters, err = readForm(string(body))
	case jsonBody:
		parameters, err = readFlatJSON(body)
	default:
		err = errors.New("the content type must be application/x-www-form-urlencoded or application/json")
	}
	if err != nil {
		return nil, refuseOAuth(auth.InvalidRequest("%s", err))
	}
	return parameters, nil
}

const (
	FormBody = "application/x-www-form-urlencoded"
	jsonBody = request.JSONType
)

// bodyForm returns the format of a body, or nothing if this server cannot read it.
func bodyForm(in *fasthttp.RequestHeader) string {
	name, parameters, err := mime.ParseMediaType(string(in.ContentType()))
	if err != nil {
		return ""
	}
	if name != FormBody {
		if !request.IsJSON(in) {
			return ""
		}
		return jsonBody
	}
	for _, encoding := range in.PeekAll("Content-Encoding") {
		if len(encoding) > 0 && !strings.EqualFold(string(encoding), "identity") {
			return ""
		}
	}
	if charset, given := parameters["charset"]; given && !strings.EqualFold(charset, "utf-8") {
		return ""
	}
	return FormBody
}

var (
	errRepeated   = errors.New("a parameter is repeated")
	errUnreadable = errors.New("the body could not be read")
)

// readForm reads a form. net/url would accept broken parameters and drop repeated ones.
func readForm(body string) (map[string]string, error) {
	parameters, seen := map[string]string{}, map[string]bool{}
	for pair := range strings.SplitSeq(body, "&") {
		if pair == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil {
			return nil, errUnreadable
		}
		value, err := url.QueryUnescape(rawValue)
		if err != nil || !isText(name) || !isText(value) {
			return nil, errUnreadable
		}
		if seen[name] {
			return nil, errRepeated
		}
		seen[name] = true
		if value != "" {
			parameters[name] = value
		}
	}
	return parameters, nil
}

// readFlatJSON reads a JSON object of texts. One parameter may be a boolean.
func readFlatJSON(body []byte) (map[string]string, error) {
	d := jsontext.NewDecoder(bytes.NewReader(body))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, errors.New("the body is not a JSON object")
	}
	parameters := map[string]string{}
	for d.PeekKind() != '}' {
		t, err := d.ReadToken()
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return nil, errRepeated
		}
		if err != nil {
			return nil, errUnreadable
		}
		name := t.String()
		value, err := d.ReadToken()
		if err != nil {
			return nil, errUnreadable
		}
		text := value.String() // true and false as written
		isFlag := name == "create_if_not_exists" && (value.Kind() == 't' || value.Kind() == 'f')
		switch {
		case value.Kind() != '"' && !isFlag:
			return nil, errors.New("the body is not a flat JSON object of texts")
		case !isText(name) || !isText(text):
			return nil, errUnreadable
		case text != "":
			parameters[name] = text
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, errUnreadable
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errUnreadable
	}
	return parameters, nil
}

// isText tells whether a text can be stored: in UTF-8 and without NUL.
func isText(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}
