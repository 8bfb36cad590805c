package config

import (
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// setting is one key of the configuration.
type setting struct {
	key         string
	read        func(text string) (any, error) // nil for a list of objects
	members     []setting                      // of the objects, in a list of objects
	production  string                         // the default; empty means none
	development string                         // the default in development
	isList      bool                           // several values; each is read by itself
	isSecret    bool                           // may be given as a file; never shown
	ofSchema    bool                           // takes effect through the release: a server's own copy is not looked at
}

// settings lists every key, in the order of the documentation.
var settings = []setting{
	{key: "mode", read: choice("production", "development"), production: "production", development: "development"},
	{key: "baseUrl", read: baseURL},
	{key: "host", read: text, production: "0.0.0.0", development: "127.0.0.1"},
	{key: "port", read: integer(1, 65535), production: "8080", development: "8080"},
	{key: "admin.host", read: text, production: "127.0.0.1", development: "127.0.0.1"},
	{key: "admin.port", read: integer(0, 65535), production: "9090", development: "9090"},
	{key: "database.url", read: text, isSecret: true},
	{key: "database.poolSize", read: integer(1, 10000)},
	{key: "database.poolWait", read: seconds(0.001), production: "2", development: "2"},
	{key: "database.statementTimeout", read: seconds(0.001), production: "10", development: "10"},
	{key: "database.lockTimeout", read: seconds(0.001), production: "5", development: "5"},
	{key: "useDefaultApi", ofSchema: true},
	{key: "openapi", read: choice("public", "authenticated", "off"), production: "public", development: "public"},
	{key: "docs", read: boolean, production: "false", development: "true"},
	{key: "cors.origins", read: origin, development: "*", isList: true},
	{key: "server.trustedProxies", read: network, isList: true},
	{key: "server.maxConnections", read: integer(16, math.MaxInt32)},
	{key: "server.shutdownGrace", read: seconds(0), production: "20", development: "20"},
	{key: "limits.body", read: integer(1, math.MaxInt32), production: "6291456", development: "6291456"},
	{key: "limits.bodies", read: integer(1, math.MaxInt)},
	{key: "limits.answers", read: integer(1, math.MaxInt)},
	{key: "limits.page", read: integer(1, math.MaxInt32), production: "8388608", development: "8388608"},
	{key: "pagination.defaultSize", read: integer(1, 1000000), production: "50", development: "50"},
	{key: "pagination.maxSize", read: integer(1, 1000000), production: "1000", development: "1000"},
	{key: "pagination.totalCount", read: choice("onRequest", "always"), production: "onRequest", development: "onRequest"},
	{key: "hideRefusedRows", ofSchema: true},
	{key: "encryption.key", read: encryptionKey, isSecret: true},
	{key: "encryption.previousKeys", read: encryptionKey, isList: true, isSecret: true},
	{key: "auth.signingKey", read: pemBlock, isSecret: true},
	{key: "auth.verificationKeys", read: pemBlock, isList: true, isSecret: true},
	{key: "auth.tokens.accessTokenExpiry", read: seconds(1), production: "3600", development: "3600"},
	{key: "auth.tokens.refreshTokenExpiry", read: secondsUpTo(1, longestSignIn), production: "7776000", development: "7776000"},
	{key: "auth.tokens.refreshTokenRotationEnabled", read: boolean, production: "true", development: "true"},
	{key: "auth.tokens.refreshTokenGrace", read: seconds(0), production: "60", development: "60"},
	{key: "auth.password.enabled", read: boolean, production: "true", development: "true"},
	{key: "auth.password.signup", read: boolean, production: "true", development: "true"},
	{key: "auth.password.minLength", read: integer(1, 1024), production: "8", development: "8"},
	{key: "auth.throttle.perAccountAndAddress", read: integer(1, math.MaxInt32), production: "10", development: "10"},
	{key: "auth.throttle.perAccount", read: integer(1, math.MaxInt32), production: "200", development: "200"},
	{key: "auth.throttle.perAddress", read: integer(1, math.MaxInt32), production: "100", development: "100"},
	{key: "auth.throttle.triesPerAccountAndAddress", read: integer(1, math.MaxInt32), production: "100", development: "100"},
	{key: "auth.throttle.window", read: seconds(1), production: "900", development: "900"},
	{key: "auth.redirectUrl", read: redirectURL},
	{key: "auth.redirectUris", read: redirectURI, isList: true},
	{key: "auth.pkce", read: choice("optional", "required", "S256"), production: "optional", development: "optional"},
	{key: "auth.providers", isList: true, members: providerMembers},
	{key: "auth.claims", ofSchema: true},
	{key: "environment", ofSchema: true},
	{key: "secrets", ofSchema: true},
	{key: "storage.type", read: choice("s3", "local"), production: "s3", development: "local"},
	{key: "storage.directory", read: text, production: ".sternpost/files", development: ".sternpost/files"},
	{key: "storage.s3.bucket", read: text},
	{key: "storage.s3.region", read: text},
	{key: "storage.s3.endpoint", read: absoluteURL},
	{key: "storage.s3.pathStyle", read: boolean, production: "false", development: "false"},
	{key: "storage.deleteDelay", read: seconds(3600), production: "3600", development: "3600"},
	{key: "uploads.urlExpiry", read: seconds(1), production: "900", development: "900"},
	{key: "uploads.keyExpiry", read: seconds(1), production: "3600", development: "3600"},
	{key: "uploads.maxOutstanding", read: integer(1, math.MaxInt32), production: "100", development: "100"},
	{key: "uploads.inline", read: choice("free", "checked"), production: "free", development: "free"},
	{key: "uploads.maxOutstandingAnonymous", read: integer(1, math.MaxInt32), production: "20", development: "20"},
}

// findSetting returns the setting of that key, or nil.
func findSetting(key string) *setting {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.key == key })
	if i < 0 {
		return nil
	}
	return &settings[i]
}

// variable returns the name of the setting in the environment:
// auth.password.minLength is STERNPOST_AUTH_PASSWORD_MIN_LENGTH.
func (s *setting) variable() string {
	var b strings.Builder
	b.WriteString(variablePrefix)
	for _, r := range s.key {
		switch {
		case r == '.':
			b.WriteByte('_')
		case unicode.IsUpper(r):
			b.WriteByte('_')
			b.WriteRune(r)
		default:
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
}

// shortVariable returns the name without prefix under which a few settings are
// known everywhere; empty means that there is none.
func (s *setting) shortVariable() string {
	switch s.key {
	case "database.url", "baseUrl", "host", "port":
		return strings.TrimPrefix(s.variable(), variablePrefix)
	}
	return ""
}

// defaultText returns the default as it would be written.
func (s *setting) defaultText(mode Mode) string {
	if mode == Development {
		return s.development
	}
	return s.production
}

// parse reads one text, or each of several.
func (s *setting) parse(texts []string) (any, error) {
	if !s.isList {
		return s.parseOne(texts[0])
	}
	list := []string{}
	for _, t := range texts {
		v, err := s.parseOne(t)
		if err != nil {
			return nil, err
		}
		list = append(list, v.(string))
	}
	return list, nil
}

func (s *setting) parseOne(text string) (any, error) {
	v, err := s.read(text)
	if err != nil && !s.isSecret {
		return nil, fmt.Errorf("%q %w", text, err)
	}
	return v, err
}

// What a text may be. Each error continues a sentence that begins with the text.

func text(text string) (any, error) {
	return text, nil
}

func boolean(text string) (any, error) {
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return nil, errors.New("is neither true nor false")
}

func choice(names ...string) func(string) (any, error) {
	return func(text string) (any, error) {
		if slices.Contains(names, text) {
			return text, nil
		}
		return nil, fmt.Errorf("is none of %s", strings.Join(names, ", "))
	}
}

func integer(low, high int) func(string) (any, error) {
	return func(text string) (any, error) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, errors.New("is not a whole number")
		}
		if n < low || n > high {
			return nil, fmt.Errorf("is not between %d and %d", low, high)
		}
		return n, nil
	}
}

// seconds reads a duration; a fraction of a second is allowed.
func seconds(low float64) func(string) (any, error) {
	return func(text string) (any, error) {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(n) || n > math.MaxInt32 {
			return nil, errors.New("is not a number of seconds")
		}
		if n < low {
			return nil, fmt.Errorf("is less than %s seconds", strconv.FormatFloat(low, 'f', -1, 64))
		}
		return time.Duration(n * float64(time.Second)), nil
	}
}

// longestSignIn is how long the database lets a sign-in last at most, in seconds.
const longestSignIn = 365 * 24 * 60 * 60

// secondsUpTo reads a duration that has an upper limit, too.
func secondsUpTo(low, high float64) func(string) (any, error) {
	read := seconds(low)
	return func(text string) (any, error) {
		v, err := read(text)
		if err == nil && v.(time.Duration).Seconds() > high {
			return nil, fmt.Errorf("is more than %s seconds", strconv.FormatFloat(high, 'f', -1, 64))
		}
		return v, err
	}
}

func absoluteURL(text string) (any, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" {
		return nil, errors.New("is not an absolute URL")
	}
	return text, nil
}

func baseURL(text string) (any, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errors.New("is not an address that begins with https:// or http://")
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(text, "#") {
		return nil, errors.New("has more than scheme, host, port and path")
	}
	if strings.HasSuffix(text, "/") {
		return nil, errors.New("ends in a slash")
	}
	return text, nil
}

// origin reads what a browser sends as Origin, or * for any.
func origin(text string) (any, error) {
	if text == "*" {
		return text, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" || text != u.Scheme+"://"+strings.ToLower(u.Host) {
		return nil, errors.New("is not an origin such as https://app.example.com")
	}
	return text, nil
}

func network(text string) (any, error) {
	if _, err := netip.ParsePrefix(text); err != nil {
		return nil, errors.New("is not a network such as 10.0.0.0/8")
	}
	return text, nil
}

func pemBlock(text string) (any, error) {
	if block, _ := pem.Decode([]byte(text)); block == nil {
		return nil, errors.New("is not a key in PEM form")
	}
	return text, nil
}

func encryptionKey(text string) (any, error) {
	if key, err := base64.StdEncoding.DecodeString(text); err != nil || len(key) != 32 {
		return nil, errors.New("is not a key of 32 bytes in base64")
	}
	return text, nil
}
