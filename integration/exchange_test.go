package integration

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// exchange is a request and its response, as a section of a case:
//
//	POST /api/json/createCustomer
//	Authorization: Bearer {token ada}
//
//	{"name":"Ada"}
//
//	=> 200
//
//	{"id":"{id ada}","name":"Ada",…}
//
// The body of the response is compared byte for byte, but it may be broken into lines,
// whose indentation does not count. Headers that matter must be absent unless the
// section names them.
type exchange struct {
	method, path string
	header       http.Header
	body         string

	status     int
	wantHeader http.Header
	wantBody   string
}

// arrow is before the status.
const arrow = "=> "

func parseExchange(text string) (exchange, error) {
	request, response, ok := strings.Cut("\n"+text, "\n"+arrow)
	if !ok {
		return exchange{}, fmt.Errorf("there is no line %s<status>", arrow)
	}
	var e exchange
	first, header, body, err := parseMessage(strings.TrimPrefix(request, "\n"))
	if err != nil {
		return e, err
	}
	e.header, e.body = header, body
	if e.method, e.path, ok = strings.Cut(first, " "); !ok {
		return e, fmt.Errorf("the request line %q is not of the form <method> <path>", first)
	}
	first, e.wantHeader, e.wantBody, err = parseMessage(response)
	if err != nil {
		return e, err
	}
	if e.status, err = strconv.Atoi(first); err != nil {
		return e, fmt.Errorf("the status: %w", err)
	}
	return e, nil
}

// parseMessage splits a message into its first line, headers and body.
func parseMessage(text string) (first string, header http.Header, body string, err error) {
	head, body, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(strings.TrimRight(head, "\n"), "\n")
	header = http.Header{}
	for _, line := range lines[1:] {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return "", nil, "", fmt.Errorf("%q is not a header; a blank line stands before a body", line)
		}
		header.Add(name, strings.TrimSpace(value))
	}
	return lines[0], header, strings.TrimRight(body, "\n"), nil
}

// unbroken joins the lines of a body.
func unbroken(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "")
}

// variables are the values of placeholders.
type variables map[string]string

// placeholder is {name}, which means a known value; or {kind} or {kind name}, which in
// a response means any value of a kind and, with a name, defines it.
var placeholder = regexp.MustCompile(`\{[a-z][a-z0-9]*( [a-z0-9]+)?\}`)

// kinds are the kinds of values that differ from run to run.
func kinds() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"id":     regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`),
		"time":   regexp.MustCompile(`^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`),
		"cursor": regexp.MustCompile(`^[A-Za-z0-9_-]+`),
	}
}

// fill replaces the placeholders of a request with values.
func (v variables) fill(text string) (string, error) {
	var unknown string
	filled := placeholder.ReplaceAllStringFunc(text, func(p string) string {
		value, ok := v[p[1:len(p)-1]]
		if !ok {
			unknown = p
		}
		return value
	})
	if unknown != "" {
		return "", fmt.Errorf("nothing is known by the name %s", unknown)
	}
	return filled, nil
}

// match compares a received text with the wanted one, and learns values from it.
func (v variables) match(want, got string) bool {
	for want != "" {
		at := placeholder.FindStringIndex(want)
		if at == nil {
			return got == want
		}
		if !strings.HasPrefix(got, want[:at[0]]) {
			return false
		}
		got = got[at[0]:]
		name := want[at[0]+1 : at[1]-1]
		want = want[at[1]:]

		value, known := v[name]
		if !known {
			kind, name, isNamed := strings.Cut(name, " ")
			pattern, ok := kinds()[kind]
			if !ok {
				return false
			}
			if value = pattern.FindString(got); value == "" {
				return false
			}
			if isNamed {
				v[name] = value
			}
		}
		if !strings.HasPrefix(got, value) {
			return false
		}
		got = got[len(value):]
	}
	return got == ""
}

// generalize replaces values that differ from run to run with placeholders, for a body
// to be kept. It reuses the names that the body before gave to values.
func (v variables) generalize(before, body string) string {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if value := v[name]; len(value) >= 20 { // no text that could be there by chance
			body = strings.ReplaceAll(body, `"`+value+`"`, `"{`+name+`}"`)
		}
	}
	for _, kind := range []struct{ name, members string }{
		{"id", `[A-Za-z]*`},
		{"time", `createdAt|updatedAt`},
		{"cursor", `startCursor|endCursor`},
	} {
		names := regexp.MustCompile(`\{`+kind.name+` [a-z0-9]+\}`).FindAllString(before, -1)
		pattern := regexp.MustCompile(`"(?:` + kind.members + `)":"(` + kinds()[kind.name].String()[1:] + `)"`)
		for {
			at := pattern.FindStringSubmatchIndex(body)
			if at == nil {
				break
			}
			value, name := body[at[2]:at[3]], "{"+kind.name+"}"
			if len(names) > 0 {
				name, names = names[0], names[1:]
				later := "{" + strings.Fields(strings.Trim(name, "{}"))[1] + "}"
				body = body[:at[3]] + strings.ReplaceAll(body[at[3]:], value, later)
			}
			body = body[:at[2]] + name + body[at[3]:]
		}
	}
	return body
}

// notableHeaders are the headers whose presence and absence means something.
func notableHeaders() []string {
	return []string{
		"Access-Control-Allow-Credentials", "Access-Control-Allow-Headers", "Access-Control-Allow-Methods",
		"Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Max-Age",
		"Allow", "Location", "Retry-After", "Set-Cookie", "Strict-Transport-Security", "Vary", "Www-Authenticate",
	}
}

// checkHeader compares a header with the headers of a section and those of every
// response.
func checkHeader(got, want http.Header, body string) []string {
	var problems []string
	expect := func(name string, want []string) {
		if got := got.Values(name); !slices.Equal(got, want) {
			problems = append(problems, fmt.Sprintf("header %s: got %q, want %q", name, got, want))
		}
	}
	for _, name := range notableHeaders() {
		expect(name, want.Values(name))
	}
	for _, general := range []struct{ name, value string }{
		{"Cache-Control", "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
	} {
		expect(general.name, []string{general.value})
	}
	if body != "" {
		expect("Content-Type", []string{"application/json"})
	}
	id := got.Values("X-Request-Id")
	if len(id) != 1 || !regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`).MatchString(id[0]) {
		problems = append(problems, fmt.Sprintf("header X-Request-Id: got %q, want one id", id))
	}
	if wanted := want.Values("X-Request-Id"); len(wanted) > 0 {
		expect("X-Request-Id", wanted)
	}
	return problems
}
