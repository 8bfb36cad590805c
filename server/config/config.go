package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/auth/mail"
)

// Mode tells whether the server serves the public or its developers.
type Mode string

// The modes.
const (
	Production  Mode = "production"
	Development Mode = "development"
)

// PreparedStatements tells whether statements are prepared under names, which some
// poolers do not support.
type PreparedStatements string

// The modes of prepared statements.
const (
	PreparedAuto PreparedStatements = "auto" // where possible
	PreparedOn   PreparedStatements = "on"
	PreparedOff  PreparedStatements = "off"
)

// Config is a configuration with checked values.
type Config struct {
	Mode             Mode
	Name             string // of the project: the configured one, else that of its folder
	BaseURL          string // without trailing slash
	Host             string
	Port             int
	AdminHost        string
	AdminPort        int // 0 means no admin listener
	DatabaseURL      string
	DatabaseReadURL  string        // of replicas; empty means none
	ReadLag          time.Duration // the maximum lag of a replica
	PoolSize         int
	PoolWait         time.Duration
	StatementTimeout time.Duration
	LockTimeout      time.Duration
	OpenAPI          OpenAPIAccess
	Docs             bool   // whether there are pages for developers
	Client           string // a file that sternpost dev keeps, below the project; empty means none
	MCP              MCP
	CORSOrigins      []string
	ShutdownGrace    time.Duration
	BodyLimit        int // of one request
	BodiesLimit      int // of all requests in total; 0 means a part of the memory
	PageLimit        int // bytes of a page's records; 0 means unlimited
	RowsLimit        int // rows that one call writes; 0 means unlimited
	AnswersLimit     int // bytes of all answers in flight; 0 means a part of the memory
	TransfersLimit   int // files that this server receives at the same time, and as many that it sends; 0 means 256
	Pagination       Pagination
	TrustedProxies   []netip.Prefix
	MaxConnections   int      // 0 means what descriptors and memory allow
	SigningKey       string   // PEM
	VerificationKeys []string // PEM

	PreparedStatements PreparedStatements

	EncryptionKey          string   // base64; empty means none
	PreviousEncryptionKeys []string // base64; they only decrypt

	AccessTokenExpiry    time.Duration
	RefreshTokenExpiry   time.Duration // of a family, from its sign-in
	RefreshTokenRotation bool
	RefreshTokenGrace    time.Duration
	PasswordEnabled      bool
	PasswordSignup       bool
	PasswordMinLength    int
	Throttle             auth.ThrottleOptions
	RedirectURL          string // for providers without one; empty means none
	RedirectURIs         []string
	PKCE                 auth.PKCE
	Providers            []auth.ProviderOptions
	Passkeys             auth.PasskeyOptions

	Verification    auth.Verification // of the e-mail address for a sign-in by password
	VerificationURL string            // the page that proves an address; empty means our own page
	Mail            mail.Options      // without host no mail is sent
	MailFolder      string            // of the project's templates; it may be missing
	MailsPerAddress int               // that code sends, within a day

	Jobs        Jobs
	Subscribers []Subscriber // the webhooks
	Changes     Changes
	Live        Live
	Storage     Storage
	Uploads     Uploads

	// Environ holds the values of the names that a release reads as ctx.env and
	// ctx.secrets, in the form of os.Environ.
	Environ []string
}

// Source is the origin of a configuration.
type Source struct {
	Dir  string   // of the project; empty means that of the file, or else the working directory
	File string   // path of sternpost.yaml; empty means none
	Env  []string // as os.Environ returns it; wins over the file
}

// dir is the folder of the project.
func (s *Source) dir() string {
	if s.Dir == "" {
		return filepath.Dir(s.File) // the working directory for an empty path
	}
	return s.Dir
}

// folderName returns the name of that folder; empty if it is the root of the file system.
func (s *Source) folderName() string {
	dir, err := filepath.Abs(s.dir())
	if err != nil || dir == filepath.Dir(dir) {
		return ""
	}
	return filepath.Base(dir)
}

const variablePrefix = "STERNPOST_"

// given is the value of a setting and its place.
type given struct {
	texts []string
	place string // the name of a file or of a variable
	line  int    // of a file
}

// problem adds the place of a value to an error.
func (g *given) problem(err error) error {
	if g.line > 0 {
		return &FileError{File: g.place, Line: g.line, Err: err}
	}
	return fmt.Errorf("%s: %w", g.place, err)
}

// Load reads and checks a configuration. Its error lists every problem, one per line,
// each with the line of the file or the variable. In development DatabaseURL and
// SigningKey may be empty, since `sternpost dev` provides a database and keys; New needs
// both.
func Load(source Source) (Config, error) {
	file, problems := readFile(source.File)
	env, more := readEnvironment(source.Env)
	problems = append(problems, more...)

	found := func(s *setting[Config]) (given, bool) {
		if g, ok := env[s.key]; ok {
			return g, true
		}
		g, ok := file.values[s.key]
		return g, ok
	}

	// The mode comes first, since the other defaults depend on it.
	mode := Production
	if g, ok := found(findSetting("mode")); ok && len(g.texts) == 1 {
		mode = Mode(g.texts[0])
	}

	var c Config
	problems = append(problems, c.set(mode, found)...)
	providers, more := readProviders(file.objects["auth.providers"], mode, source.Env)
	problems = append(problems, more...)
	subscribers, more := readSubscribers(file.objects["subscribers"], mode, source.Env)
	problems = append(problems, more...)
	if len(problems) > 0 {
		return Config{}, errors.Join(problems...)
	}

	c.Providers, c.Subscribers = providers, subscribers
	c.Environ = slices.Clone(source.Env)
	if c.Name == "" {
		c.Name = source.folderName()
	}
	c.MailFolder = filepath.Join(source.dir(), "mail")
	c.fill()
	return c, c.check()
}

// set sets each setting to its given value, or else to the default of the mode.
func (c *Config) set(mode Mode, found func(*setting[Config]) (given, bool)) []error {
	return setAll(settings, c, mode, found)
}

func setAll[C any](settings []setting[C], c *C, mode Mode, found func(*setting[C]) (given, bool)) []error {
	var problems []error
	for i := range settings {
		s := &settings[i]
		if s.set == nil {
			continue
		}
		g, ok := found(s)
		if !ok {
			if d := s.defaultText(mode); d != "" {
				g = given{texts: []string{d}, place: "default"}
			} else if s.isList {
				g = given{texts: nil, place: "default"}
			} else {
				continue
			}
		}
		if err := s.apply(c, g.texts); err != nil {
			problems = append(problems, g.problem(fmt.Errorf("%s: %w", s.key, err)))
		}
	}
	return problems
}

// fill sets the defaults that depend on other settings, or on the machine.
func (c *Config) fill() {
	if c.PoolSize == 0 {
		c.PoolSize = max(4, 4*runtime.GOMAXPROCS(0))
	}
	if c.Mail.Port == 0 {
		c.Mail.Port = c.Mail.TLS.DefaultPort()
	}
	if c.BaseURL == "" && c.Mode == Development {
		c.BaseURL = "http://localhost:" + strconv.Itoa(c.Port)
	}
}

// Missing returns the error for a required setting without a value.
func Missing(key string) error {
	return fmt.Errorf("%s is required: set it in sternpost.yaml, or %s in the environment", key, findSetting(key).knownVariable())
}

// MissingToServe returns the errors for the settings without which nothing can be served, in any mode. In development
// the command dev fills them.
func (c *Config) MissingToServe() error {
	var problems []error
	if c.DatabaseURL == "" {
		problems = append(problems, Missing("database.url"))
	}
	if c.SigningKey == "" {
		problems = append(problems, Missing("auth.signingKey"))
	}
	return errors.Join(problems...)
}

// check finds missing settings and conflicts between settings.
func (c *Config) check() error {
	var problems []error
	if c.BaseURL == "" {
		problems = append(problems, Missing("baseUrl"))
	}
	if c.Mode == Production {
		if err := c.MissingToServe(); err != nil {
			problems = append(problems, err)
		}
		if strings.HasPrefix(c.BaseURL, "http://") {
			problems = append(problems, errors.New("baseUrl must begin with https:// in production; to try the server on this machine, set STERNPOST_MODE=development"))
		}
	}
	if len(c.PreviousEncryptionKeys) > 0 && c.EncryptionKey == "" {
		problems = append(problems, errors.New("encryption.previousKeys is set without encryption.key: set the present key too"))
	}
	for _, conflict := range c.conflicts() {
		problems = append(problems, conflict)
	}
	problems = append(problems, c.checkStorage()...)
	problems = append(problems, c.checkMail()...)
	return errors.Join(problems...)
}

// conflict is a problem of settings that do not fit each other.
type conflict struct {
	keys []string
	text string
}

func (c conflict) Error() string { return c.text }

// conflicts finds settings with values that do not fit each other, in any mode.
func (c *Config) conflicts() []conflict {
	var list []conflict
	if c.AdminPort == c.Port && (c.AdminHost == c.Host || c.Host == "0.0.0.0") {
		list = append(list, conflict{[]string{"port", "admin.port"}, fmt.Sprintf("port and admin.port are both %d: change one of them", c.Port)})
	}
	if c.BodiesLimit != 0 && c.BodiesLimit < c.BodyLimit {
		list = append(list, conflict{[]string{"limits.bodies", "limits.body"}, "limits.bodies must be at least limits.body"})
	}
	if c.Pagination.DefaultSize > c.Pagination.MaxSize {
		list = append(list, conflict{[]string{"pagination.defaultSize", "pagination.maxSize"}, "pagination.defaultSize must be at most pagination.maxSize"})
	}
	for _, api := range c.MCP.Writes {
		if !slices.Contains(c.MCP.APIs, api) {
			list = append(list, conflict{[]string{"mcp.writes", "mcp.apis"}, fmt.Sprintf("mcp.writes names %s, which mcp.apis does not open", api)})
		}
	}
	if (c.Passkeys.RPID == "") != (len(c.Passkeys.Origins) == 0) {
		list = append(list, conflict{[]string{"auth.passkeys.rpId", "auth.passkeys.origins"}, "auth.passkeys.rpId and auth.passkeys.origins belong together: set both"})
	}
	for _, origin := range c.Passkeys.Origins {
		u, _ := url.Parse(origin) // it was read
		if host := u.Hostname(); c.Passkeys.RPID != "" && host != c.Passkeys.RPID && !strings.HasSuffix(host, "."+c.Passkeys.RPID) {
			list = append(list, conflict{[]string{"auth.passkeys.origins", "auth.passkeys.rpId"}, fmt.Sprintf("auth.passkeys.origins: %s is not in the domain %s of auth.passkeys.rpId", origin, c.Passkeys.RPID)})
		}
	}
	if c.Uploads.KeyExpiry <= c.Uploads.URLExpiry {
		list = append(list, conflict{[]string{"uploads.keyExpiry", "uploads.urlExpiry"}, "uploads.keyExpiry must be greater than uploads.urlExpiry"})
	}
	if c.Uploads.URLExpiry > maxURLExpiry {
		list = append(list, conflict{[]string{"uploads.urlExpiry"}, fmt.Sprintf("uploads.urlExpiry must be at most %d, which is 7 days", int(maxURLExpiry.Seconds()))})
	}
	return list
}

// readEnvironment finds the settings among the variables. An unknown name with our prefix
// is most likely a misspelled setting, so it is refused. Names that begin with
// STERNPOST_TEST_ belong to the tests of Sternpost itself.
func readEnvironment(env []string) (map[string]given, []error) {
	variables := map[string]string{}
	var names []string
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		variables[name] = value
		names = append(names, name)
	}

	values := map[string]given{}
	known := map[string]bool{}
	var problems []error
	for i := range settings {
		s := &settings[i]
		for _, name := range []string{s.shortVariable(), s.variable()} { // the longer name wins
			if name == "" {
				continue
			}
			known[name] = true
			if s.isSecret {
				known[name+"_FILE"] = true
			}
			g, err := s.fromVariable(name, variables)
			if err != nil {
				problems = append(problems, err)
			} else if g != nil {
				values[s.key] = *g
			}
		}
	}

	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if strings.HasPrefix(name, variablePrefix) && !known[name] && !strings.HasPrefix(name, "STERNPOST_TEST_") {
			problems = append(problems, fmt.Errorf("%s: unknown setting: correct the name, or remove the variable", name))
		}
	}
	return values, problems
}

// fromVariable reads a setting from its variable, or from the file named by the variable
// with _FILE. An empty variable counts as unset, but empties a list.
func (s *setting[C]) fromVariable(name string, variables map[string]string) (*given, error) {
	value, isSet := variables[name]
	path := variables[name+"_FILE"]
	if !s.isSecret {
		path = ""
	}
	if path != "" {
		if value != "" {
			return nil, fmt.Errorf("%s and %s_FILE are both set: remove one of them", name, name)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s_FILE: %w", name, err)
		}
		name, value, isSet = name+"_FILE", strings.TrimRight(string(content), "\r\n"), true
	}
	if !isSet || value == "" && !s.isList {
		return nil, nil
	}
	if s.ofSchema {
		return nil, nil
	}
	if s.set == nil {
		return nil, fmt.Errorf("%s: %s is a list of objects: set it in sternpost.yaml, not in the environment", name, s.key)
	}
	if !s.isList {
		return &given{texts: []string{value}, place: name}, nil
	}
	g := &given{place: name}
	for _, t := range strings.Split(value, ",") {
		if t = strings.TrimSpace(t); t != "" {
			g.texts = append(g.texts, t)
		}
	}
	return g, nil
}

// Address returns the address of the public listener.
func (c *Config) Address() string {
	return net.JoinHostPort(c.Host, strconv.Itoa(c.Port))
}

// AdminAddress returns the address of the admin listener.
func (c *Config) AdminAddress() string {
	return net.JoinHostPort(c.AdminHost, strconv.Itoa(c.AdminPort))
}

// Live is the settings of live answers.
type Live struct {
	Interval     time.Duration // between two calls for one answer
	Share        float64       // of the connections that calls for them take at most
	MaxStreams   int
	MaxPerCaller int // streams of one caller
}
