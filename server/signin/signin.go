package signin

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/auth/mail"
	"github.com/sternpost/sternpost/server/account"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/sql/release"
)

// Database is the part of the database that sign-ins need.
type Database interface {
	// QueryRow runs a statement that returns one row.
	QueryRow(statement string, arguments []any, into ...any) error
}

// Options configure sign-ins.
type Options struct {
	Config   *config.Config
	DB       Database
	Policy   *request.Policy
	Registry prometheus.Registerer // takes the metrics
	Log      *slog.Logger

	// Secrets encrypts the secrets of authenticator apps; nil means that there are none.
	Secrets auth.Secrets

	// Mailed is called when a mail may be in the queue.
	Mailed func()

	// Release returns the claims of ID tokens that the served release keeps with
	// identities, and whether a release is served at all.
	Release func() (claims []release.Claim, isServed bool)
}

// Service signs people in and out: by password, through providers and with refresh
// tokens.
type Service struct {
	Options
	Tokens        *auth.Tokens
	Passwords     *auth.Passwords
	Accounts      *auth.Accounts
	Grants        *auth.Grants
	signIns       *auth.SignIns
	passwordStore *passwordStore
	Granted       *prometheus.CounterVec
}

// New makes sign-ins from their configuration. Its errors name faults of the
// configuration.
func New(o Options) (*Service, error) {
	s := &Service{
		Options:       o,
		Passwords:     auth.NewPasswords(),
		passwordStore: &passwordStore{db: o.DB, issuer: o.Config.BaseURL, throttle: o.Config.Throttle},
	}
	var err error
	if s.Tokens, err = newTokens(o.Config, s.passwordStore); err != nil {
		return nil, err
	}
	if s.signIns, err = s.newSignIns(); err != nil {
		return nil, err
	}
	if s.Accounts, err = s.newAccounts(); err != nil {
		return nil, err
	}
	s.register()
	s.Grants = auth.NewGrants(s.Tokens, s.passwordStore, s.Passwords, s.signIns, s.Accounts, s.Log, auth.GrantOptions{
		RefreshTokenExpiry: s.Config.RefreshTokenExpiry,
		IsRotating:         s.Config.RefreshTokenRotation,
		RefreshTokenGrace:  s.Config.RefreshTokenGrace,
		IsPasswordEnabled:  s.Config.PasswordEnabled,
		IsSignupEnabled:    s.Config.PasswordSignup,
		MinPasswordLength:  s.Config.PasswordMinLength,
		Verification:       s.Config.Verification,
	})
	return s, nil
}

// newAccounts makes the accounts. In development, the templates of mails are read for each
// mail.
func (s *Service) newAccounts() (*auth.Accounts, error) {
	var folder fs.FS
	if s.Config.MailFolder != "" {
		folder = os.DirFS(s.Config.MailFolder)
	}
	read := func() (*mail.Templates, error) { return mail.ReadTemplates(folder) }
	templates, err := read()
	if err != nil {
		return nil, err
	}
	if s.Config.Mode != config.Development {
		read = func() (*mail.Templates, error) { return templates, nil }
	}
	return auth.NewAccounts(s.passwordStore, s.Passwords, read, auth.AccountOptions{
		BaseURL:           s.Config.BaseURL,
		VerificationURL:   s.Config.VerificationURL,
		RedirectURIs:      s.Config.RedirectURIs,
		SigningKey:        []byte(s.Config.SigningKey),
		MinPasswordLength: s.Config.PasswordMinLength,
		Name:              s.Config.Name,
		Secrets:           s.Secrets,
		Passkeys:          s.Config.Passkeys,
	})
}

// newSignIns makes sign-ins through the providers of the configuration.
func (s *Service) newSignIns() (*auth.SignIns, error) {
	providers, err := auth.NewProviders(auth.ProvidersOptions{Providers: s.Config.Providers})
	if err != nil {
		return nil, fmt.Errorf("auth.providers: %w", err)
	}
	signIns, err := auth.NewSignIns(auth.SignInOptions{
		BaseURL:      s.Config.BaseURL,
		RedirectURL:  s.Config.RedirectURL,
		RedirectURIs: s.Config.RedirectURIs,
		PKCE:         s.Config.PKCE,
		SigningKey:   []byte(s.Config.SigningKey),
		Providers:    providers,
		Store:        &redirectStore{db: s.DB, throttle: s.Config.Throttle, claims: s.claims},
		Log:          s.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("auth.signingKey: %w", err)
	}
	return signIns, nil
}

// register makes the metrics.
func (s *Service) register() {
	s.Granted = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sternpost_grants_total",
		Help: "Answers of the token endpoint, by grant and outcome: ok or the error.",
	}, []string{"grant", "outcome"})
	s.Registry.MustRegister(s.Granted, prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "sternpost_password_hashes_total", Help: "Hashes of passwords computed, to make or to verify one.",
	}, func() float64 { return float64(s.Passwords.Computed()) }))
}

// Routes lists the paths of sign-ins.
func (s *Service) Routes(app *fiber.App) {
	app.All("/auth/token", s.token)
	app.All("/auth/revoke", s.revoke)
	app.All("/auth/passkey", s.passkey)
	if s.Config.HasMail() && s.Config.PasswordEnabled {
		page := account.Page{Service: account.Service{Accounts: s.Accounts, Grants: s.Grants}, Policy: s.Policy, IsServed: s.hasRelease, Mailed: s.Mailed, ReadForm: s.readParameters}
		app.All(auth.VerificationPath, page.Show)
	}
	app.All("/auth/authorize/:name", s.authorize)
	app.All("/auth/callback/:name", s.callback)
	app.All("/auth/providers", s.Policy.Page(s.providers))
	app.All("/.well-known/oauth-authorization-server", s.Policy.Page(s.metadata))
	app.All("/.well-known/jwks.json", s.Policy.Page(s.jwks))
}

// claims returns the claims that the served release keeps with identities.
func (s *Service) claims() []release.Claim {
	claims, _ := s.Release()
	return claims
}

// hasRelease tells whether a release is served. Identities come with it.
func (s *Service) hasRelease() bool {
	_, isServed := s.Release()
	return isServed
}

// Hash hashes a password in the turn of the client's address, until the client leaves.
func (s *Service) Hash(c *fiber.Ctx, password string) (string, error) {
	ctx, stop := request.WhileThere(c.UserContext(), request.Of(c).Client)
	defer stop()
	leave, err := s.Passwords.Enter(ctx, s.Policy.ClientAddress(c))
	if err != nil {
		return "", err
	}
	defer leave()
	return s.Passwords.Hash(ctx, password)
}

// Sweep deletes expired rows of sign-ins, up to most of each kind, and tells whether some
// are left.
func (s *Service) Sweep(most int) (isMore bool, err error) { return s.passwordStore.sweep(most) }
