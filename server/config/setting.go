package config

import (
	"encoding/base64"
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
	"unicode/utf8"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/auth/mail"
)

// setting is one key of a configuration, or of an object in it.
type setting[C any] struct {
	key         string
	set         setter[C]       // nil for objects
	members     map[string]bool // of the objects: the keys, and whether each is a list
	isNamed     bool            // the objects have names, instead of places in a list
	production  string          // the default; empty means none
	development string          // the default in development
	isList      bool            // several values; each is read separately
	isSecret    bool            // may be given as a file; never shown
	ofSchema    bool            // takes effect through the release: a server does not use its own value
}

// setter reads the texts of a setting and stores the value. Its error is an *unfit.
type setter[C any] func(c *C, texts []string) error

// unfit is an invalid text of a setting.
type unfit struct {
	text string
	why  error
}

func (u *unfit) Error() string { return fmt.Sprintf("%q %v", u.text, u.why) }
func (u *unfit) Unwrap() error { return u.why }

// one sets a plain value.
func one[C, T any](read func(string) (T, error), into func(*C) *T) setter[C] {
	return func(c *C, texts []string) error {
		v, err := read(texts[0])
		if err != nil {
			return &unfit{texts[0], err}
		}
		*into(c) = v
		return nil
	}
}

// each sets a list, with each value read separately.
func each[C, T any](read func(string) (T, error), into func(*C) *[]T) setter[C] {
	return func(c *C, texts []string) error {
		list := []T{}
		for _, t := range texts {
			v, err := read(t)
			if err != nil {
				return &unfit{t, err}
			}
			list = append(list, v)
		}
		*into(c) = list
		return nil
	}
}

// settings lists every key, in the order of the documentation.
var settings = []setting[Config]{
	{key: "mode", set: one(choice(Production, Development), func(c *Config) *Mode { return &c.Mode }), production: "production", development: "development"},
	{key: "name", set: one(oneLine(100), func(c *Config) *string { return &c.Name })},
	{key: "baseUrl", set: one(baseURL, func(c *Config) *string { return &c.BaseURL })},
	{key: "host", set: one(text, func(c *Config) *string { return &c.Host }), production: "0.0.0.0", development: "127.0.0.1"},
	{key: "port", set: one(integer(1, 65535), func(c *Config) *int { return &c.Port }), production: "8080", development: "8080"},
	{key: "admin.host", set: one(text, func(c *Config) *string { return &c.AdminHost }), production: "127.0.0.1", development: "127.0.0.1"},
	{key: "admin.port", set: one(integer(0, 65535), func(c *Config) *int { return &c.AdminPort }), production: "9090", development: "9090"},
	{key: "database.url", set: one(text, func(c *Config) *string { return &c.DatabaseURL }), isSecret: true},
	{key: "database.readUrl", set: one(text, func(c *Config) *string { return &c.DatabaseReadURL }), isSecret: true},
	{key: "database.readLag", set: one(secondsUpTo(0.1, 60), func(c *Config) *time.Duration { return &c.ReadLag }), production: "5", development: "5"},
	{key: "database.poolSize", set: one(integer(1, 10000), func(c *Config) *int { return &c.PoolSize })},
	{key: "database.poolWait", set: one(seconds(0.001), func(c *Config) *time.Duration { return &c.PoolWait }), production: "2", development: "2"},
	{key: "database.statementTimeout", set: one(seconds(0.001), func(c *Config) *time.Duration { return &c.StatementTimeout }), production: "10", development: "10"},
	{key: "database.lockTimeout", set: one(seconds(0.001), func(c *Config) *time.Duration { return &c.LockTimeout }), production: "5", development: "5"},
	{key: "database.preparedStatements", set: one(choice(PreparedAuto, PreparedOn, PreparedOff), func(c *Config) *PreparedStatements { return &c.PreparedStatements }), production: "auto", development: "auto"},
	{key: "useDefaultApi", ofSchema: true},
	{key: "openapi", set: one(choice(OpenAPIPublic, OpenAPIAuthenticated, OpenAPIOff), func(c *Config) *OpenAPIAccess { return &c.OpenAPI }), production: "public", development: "public"},
	{key: "docs", set: one(boolean, func(c *Config) *bool { return &c.Docs }), production: "false", development: "true"},
	{key: "mcp.apis", set: each(text, func(c *Config) *[]string { return &c.MCP.APIs }), isList: true},
	{key: "mcp.writes", set: each(text, func(c *Config) *[]string { return &c.MCP.Writes }), isList: true},
	{key: "cors.origins", set: each(origin, func(c *Config) *[]string { return &c.CORSOrigins }), development: "*", isList: true},
	{key: "server.trustedProxies", set: each(network, func(c *Config) *[]netip.Prefix { return &c.TrustedProxies }), isList: true},
	{key: "server.maxConnections", set: one(integer(16, math.MaxInt32), func(c *Config) *int { return &c.MaxConnections })},
	{key: "server.shutdownGrace", set: one(seconds(0), func(c *Config) *time.Duration { return &c.ShutdownGrace }), production: "20", development: "20"},
	{key: "limits.body", set: one(integer(1, math.MaxInt32), func(c *Config) *int { return &c.BodyLimit }), production: "6291456", development: "6291456"},
	{key: "limits.bodies", set: one(integer(1, math.MaxInt), func(c *Config) *int { return &c.BodiesLimit })},
	{key: "limits.answers", set: one(integer(1, math.MaxInt), func(c *Config) *int { return &c.AnswersLimit })},
	{key: "limits.page", set: one(integer(1, math.MaxInt32), func(c *Config) *int { return &c.PageLimit }), production: "8388608", development: "8388608"},
	{key: "limits.rows", set: one(integer(1, math.MaxInt32), func(c *Config) *int { return &c.RowsLimit }), production: "10000", development: "10000"},
	{key: "limits.transfers", set: one(integer(1, math.MaxInt32), func(c *Config) *int { return &c.TransfersLimit })},
	{key: "pagination.defaultSize", set: one(integer(1, 1000000), func(c *Config) *int { return &c.Pagination.DefaultSize }), production: "50", development: "50"},
	{key: "pagination.maxSize", set: one(integer(1, 1000000), func(c *Config) *int { return &c.Pagination.MaxSize }), production: "1000", development: "1000"},
	{key: "pagination.totalCount", set: one(either("onRequest", "always"), func(c *Config) *bool { return &c.Pagination.AlwaysCount }), production: "onRequest", development: "onRequest"},
	{key: "hideRefusedRows", ofSchema: true},
	{key: "client", set: one(text, func(c *Config) *string { return &c.Client })},
	{key: "encryption.key", set: one(encryptionKey, func(c *Config) *string { return &c.EncryptionKey }), isSecret: true},
	{key: "encryption.previousKeys", set: each(encryptionKey, func(c *Config) *[]string { return &c.PreviousEncryptionKeys }), isList: true, isSecret: true},
	{key: "auth.signingKey", set: one(signingKey, func(c *Config) *string { return &c.SigningKey }), isSecret: true},
	{key: "auth.verificationKeys", set: each(verificationKey, func(c *Config) *[]string { return &c.VerificationKeys }), isList: true, isSecret: true},
	{key: "auth.tokens.accessTokenExpiry", set: one(seconds(1), func(c *Config) *time.Duration { return &c.AccessTokenExpiry }), production: "3600", development: "3600"},
	{key: "auth.tokens.refreshTokenExpiry", set: one(secondsUpTo(1, longestSignIn), func(c *Config) *time.Duration { return &c.RefreshTokenExpiry }), production: "7776000", development: "7776000"},
	{key: "auth.tokens.refreshTokenRotationEnabled", set: one(boolean, func(c *Config) *bool { return &c.RefreshTokenRotation }), production: "true", development: "true"},
	{key: "auth.tokens.refreshTokenGrace", set: one(seconds(0), func(c *Config) *time.Duration { return &c.RefreshTokenGrace }), production: "60", development: "60"},
	{key: "auth.password.enabled", set: one(boolean, func(c *Config) *bool { return &c.PasswordEnabled }), production: "true", development: "true"},
	{key: "auth.password.signup", set: one(boolean, func(c *Config) *bool { return &c.PasswordSignup }), production: "true", development: "true"},
	{key: "auth.password.minLength", set: one(integer(1, 1024), func(c *Config) *int { return &c.PasswordMinLength }), production: "8", development: "8"},
	{key: "auth.password.verification", set: one(choice(auth.VerificationOff, auth.VerificationSend, auth.VerificationRequired), func(c *Config) *auth.Verification { return &c.Verification }), production: "off", development: "off"},
	{key: "auth.verificationUrl", set: one(redirectURI, func(c *Config) *string { return &c.VerificationURL })},
	{key: "auth.throttle.perAccountAndAddress", set: one(integer(1, math.MaxInt32), func(c *Config) *int { return &c.Throttle.PerAccountAndAddress }), production: "10", development: "10"},
	{key: "auth.throttle.perAccount", set: one(integer(1, math.MaxInt32), func(c *Config) *int { return &c.Throttle.PerAccount }), production: "200", development: "200"},
	{key: "auth.throttle.perAddress", set: one(integer(1, math.MaxInt32), func(c *Config) *int { return &c.Throttle.PerAddress }), production: "100", development: "100"},
	{key: "auth.throttle.triesPerAccountAndAddress", set: one(integer(1, math.MaxInt32), func(c *Config) *int { return &c.Throttle.TriesPerAccountAndAddress }), production: "100", development: "100"},
	{key: "auth.throttle.window", set: one(seconds(1), func(c *Config) *time.Duration { return &c.Throttle.Window }), production: "900", development: "900"},
	{key: "auth.redirectUrl", set: one(redirectURL, func(c *Config) *string { return &c.RedirectURL })},
	{key: "auth.redirectUris", set: each(redirectURI, func(c *Config) *[]string { return &c.RedirectURIs }), isList: true},
	{key: "auth.pkce", set: one(choice(auth.PKCEOptional, auth.PKCERequired, auth.PKCES256), func(c *Config) *auth.PKCE { return &c.PKCE }), production: "optional", development: "optional"},
	{key: "auth.passkeys.rpId", set: one(domain, func(c *Config) *string { return &c.Passkeys.RPID })},
	{key: "auth.passkeys.origins", set: each(passkeyOrigin, func(c *Config) *[]string { return &c.Passkeys.Origins }), isList: true},
	{key: "auth.providers", isList: true, members: keysOf(providerMembers)},
	{key: "auth.claims", ofSchema: true},
	{key: "mail.from", set: one(mailAddress, func(c *Config) *string { return &c.Mail.From })},
	{key: "mail.smtp.host", set: one(text, func(c *Config) *string { return &c.Mail.Host })},
	{key: "mail.smtp.port", set: one(integer(1, 65535), func(c *Config) *int { return &c.Mail.Port })},
	{key: "mail.smtp.username", set: one(text, func(c *Config) *string { return &c.Mail.Username })},
	{key: "mail.smtp.password", set: one(text, func(c *Config) *string { return &c.Mail.Password }), isSecret: true},
	{key: "mail.smtp.tls", set: one(choice(mail.StartTLS, mail.ImplicitTLS, mail.NoTLS), func(c *Config) *mail.TLS { return &c.Mail.TLS }), production: "starttls", development: "starttls"},
	{key: "mail.perAddress", set: one(integer(1, math.MaxInt32), func(c *Config) *int { return &c.MailsPerAddress }), production: "50", development: "50"},
	{key: "environment", ofSchema: true},
	{key: "secrets", ofSchema: true},
	{key: "subscribers", isNamed: true, members: keysOf(subscriberMembers)},
	{key: "changes.keep", set: one(secondsUpTo(60, 518400), func(c *Config) *time.Duration { return &c.Changes.Keep }), production: "259200", development: "259200"},
	{key: "jobs.timeout", set: one(seconds(1), func(c *Config) *time.Duration { return &c.Jobs.Timeout }), production: "300", development: "300"},
	{key: "live.interval", set: one(secondsUpTo(0.01, 60), func(c *Config) *time.Duration { return &c.Live.Interval }), production: "0.05", development: "0.05"},
	{key: "live.share", set: one(fraction, func(c *Config) *float64 { return &c.Live.Share }), production: "0.25", development: "0.25"},
	{key: "live.maxStreams", set: one(integer(1, math.MaxInt32), func(c *Config) *int { return &c.Live.MaxStreams }), production: "20000", development: "20000"},
	{key: "live.maxStreamsPerCaller", set: one(integer(1, math.MaxInt32), func(c *Config) *int { return &c.Live.MaxPerCaller }), production: "20", development: "20"},
	{key: "storage.type", set: one(choice(S3, Disk, Local), func(c *Config) *StorageType { return &c.Storage.Type }), production: "s3", development: "local"},
	{key: "storage.directory", set: one(text, func(c *Config) *string { return &c.Storage.Directory }), production: ".sternpost/files", development: ".sternpost/files"},
	{key: "storage.reserve", set: one(integer(0, math.MaxInt), func(c *Config) *int { return &c.Storage.Reserve }), production: "1073741824", development: "1073741824"},
	{key: "storage.s3.bucket", set: one(text, func(c *Config) *string { return &c.Storage.Bucket })},
	{key: "storage.s3.region", set: one(text, func(c *Config) *string { return &c.Storage.Region })},
	{key: "storage.s3.endpoint", set: one(absoluteURL, func(c *Config) *string { return &c.Storage.Endpoint })},
	{key: "storage.s3.pathStyle", set: one(boolean, func(c *Config) *bool { return &c.Storage.PathStyle }), production: "false", development: "false"},
	{key: "storage.check", set: one(boolean, func(c *Config) *bool { return &c.Storage.Check }), production: "true", development: "true"},
	{key: "storage.deleteDelay", set: one(seconds(3600), func(c *Config) *time.Duration { return &c.Storage.DeleteDelay }), production: "3600", development: "3600"},
	{key: "uploads.urlExpiry", set: one(seconds(1), func(c *Config) *time.Duration { return &c.Uploads.URLExpiry }), production: "900", development: "900"},
	{key: "uploads.keyExpiry", set: one(seconds(1), func(c *Config) *time.Duration { return &c.Uploads.KeyExpiry }), production: "3600", development: "3600"},
	{key: "uploads.maxOutstanding", set: one(integer(1, math.MaxInt32), func(c *Config) *int { return &c.Uploads.MaxOutstanding }), production: "100", development: "100"},
	{key: "uploads.inline", set: one(either("free", "checked"), func(c *Config) *bool { return &c.Uploads.CheckInline }), production: "free", development: "free"},
	{key: "uploads.maxOutstandingAnonymous", set: one(integer(1, math.MaxInt32), func(c *Config) *int { return &c.Uploads.MaxOutstandingAnonymous }), production: "20", development: "20"},
}

// keysOf returns the keys of settings, and whether each is a list.
func keysOf[C any](settings []setting[C]) map[string]bool {
	keys := map[string]bool{}
	for _, s := range settings {
		keys[s.key] = s.isList
	}
	return keys
}

// findSetting returns the setting of that key, or nil.
func findSetting(key string) *setting[Config] {
	i := slices.IndexFunc(settings, func(s setting[Config]) bool { return s.key == key })
	if i < 0 {
		return nil
	}
	return &settings[i]
}

// variable returns the name of the setting in the environment:
// auth.password.minLength is STERNPOST_AUTH_PASSWORD_MIN_LENGTH.
func (s *setting[C]) variable() string { return variablePrefix + upperSnake(s.key) }

func upperSnake(name string) string {
	var b strings.Builder
	for _, r := range name {
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

// shortVariable returns the well-known name without prefix that a few settings have;
// empty means none.
func (s *setting[C]) shortVariable() string {
	switch s.key {
	case "database.url", "database.readUrl", "baseUrl", "host", "port":
		return strings.TrimPrefix(s.variable(), variablePrefix)
	}
	return ""
}

// defaultText returns the default in the form of the file.
func (s *setting[C]) defaultText(mode Mode) string {
	if mode == Development {
		return s.development
	}
	return s.production
}

// apply sets the setting from the texts.
func (s *setting[C]) apply(c *C, texts []string) error {
	err := s.set(c, texts)
	var u *unfit
	if s.isSecret && errors.As(err, &u) {
		return fmt.Errorf("the value %w", u.why)
	}
	return err
}

// Readers of texts. Each error continues a sentence that begins with the text.

func text(text string) (string, error) {
	return text, nil
}

// oneLine reads a text of at most the given number of characters, without control characters.
func oneLine(most int) func(string) (string, error) {
	return func(text string) (string, error) {
		switch {
		case strings.TrimSpace(text) == "":
			return "", errors.New("is empty")
		case utf8.RuneCountInString(text) > most:
			return "", fmt.Errorf("has more than %d characters", most)
		case strings.ContainsFunc(text, unicode.IsControl):
			return "", errors.New("must be one line, without control characters")
		}
		return strings.TrimSpace(text), nil
	}
}

func boolean(text string) (bool, error) {
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, errors.New("is neither true nor false")
}

func choice[T ~string](values ...T) func(string) (T, error) {
	return func(text string) (T, error) {
		if slices.Contains(values, T(text)) {
			return T(text), nil
		}
		var names []string
		for _, v := range values {
			names = append(names, string(v))
		}
		return "", fmt.Errorf("is not one of %s", strings.Join(names, ", "))
	}
}

// either reads one of two names; the second means true.
func either(no, yes string) func(string) (bool, error) {
	read := choice(no, yes)
	return func(text string) (bool, error) {
		name, err := read(text)
		return name == yes, err
	}
}

func integer(low, high int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0, errors.New("is not a whole number")
		}
		if n < low || n > high {
			return 0, fmt.Errorf("is not between %d and %d", low, high)
		}
		return n, nil
	}
}

// fraction reads a part of a whole.
func fraction(text string) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n > 0 && n <= 1) {
		return 0, errors.New("is not a number above 0 and up to 1, such as 0.25")
	}
	return n, nil
}

// seconds reads a duration; a fraction of a second is allowed.
func seconds(low float64) func(string) (time.Duration, error) {
	return func(text string) (time.Duration, error) {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(n) || n > math.MaxInt32 {
			return 0, errors.New("is not a number of seconds, such as 10 or 0.5")
		}
		if n < low {
			return 0, fmt.Errorf("is less than %s seconds", strconv.FormatFloat(low, 'f', -1, 64))
		}
		return time.Duration(n * float64(time.Second)), nil
	}
}

// longestSignIn is the database's limit for a sign-in, in seconds.
const longestSignIn = 365 * 24 * 60 * 60

// secondsUpTo reads a duration that also has an upper limit.
func secondsUpTo(low, high float64) func(string) (time.Duration, error) {
	read := seconds(low)
	return func(text string) (time.Duration, error) {
		v, err := read(text)
		if err == nil && v.Seconds() > high {
			return 0, fmt.Errorf("is more than %s seconds", strconv.FormatFloat(high, 'f', -1, 64))
		}
		return v, err
	}
}

func absoluteURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" {
		return "", errors.New("is not a complete address, such as https://s3.example.com")
	}
	return text, nil
}

func baseURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", errors.New("is not an address that begins with https:// or http://")
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(text, "#") {
		return "", errors.New("may only have a scheme, host, port and path")
	}
	if strings.HasSuffix(text, "/") {
		return "", errors.New("ends in a slash: remove it")
	}
	return text, nil
}

// origin reads a value of the header Origin, or * for any.
func origin(text string) (string, error) {
	if text == "*" {
		return text, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" || text != u.Scheme+"://"+strings.ToLower(u.Host) {
		return "", errors.New("is not an origin such as https://app.example.com")
	}
	return text, nil
}

// passkeyOrigin reads the origin of a page that a browser lets use passkeys.
func passkeyOrigin(text string) (string, error) {
	u, err := url.Parse(text)
	isOwn := err == nil && u.Scheme == "http" && u.Hostname() == "localhost"
	if _, err := origin(text); err != nil || text == "*" || u.Scheme != "https" && !isOwn {
		return "", errors.New("is not an origin such as https://app.example.com or http://localhost:5173")
	}
	return text, nil
}

func domain(text string) (string, error) {
	_, isAddress := netip.ParseAddr(text)
	if lower, err := emailDomain(text); err != nil || lower != text || isAddress == nil {
		return "", errors.New("is not a domain such as example.com")
	}
	return text, nil
}

func network(text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, errors.New("is not a network such as 10.0.0.0/8")
	}
	return p, nil
}

func signingKey(text string) (string, error) {
	if err := auth.CheckSigningKey([]byte(text)); err != nil {
		return "", fmt.Errorf("is not a signing key: %w; make one with openssl genpkey -algorithm ed25519", err)
	}
	return text, nil
}

func verificationKey(text string) (string, error) {
	if err := auth.CheckVerificationKey([]byte(text)); err != nil {
		return "", fmt.Errorf("is not a public key: %w", err)
	}
	return text, nil
}

func encryptionKey(text string) (string, error) {
	if key, err := base64.StdEncoding.DecodeString(text); err != nil || len(key) != 32 {
		return "", errors.New("is not a key of 32 bytes in base64; make one with openssl rand -base64 32")
	}
	return text, nil
}

// knownVariable returns the variable in the documentation.
func (s *setting[C]) knownVariable() string {
	if short := s.shortVariable(); short != "" {
		return short
	}
	return s.variable()
}
