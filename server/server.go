package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"github.com/sternpost/sternpost/auth"
	"github.com/sternpost/sternpost/auth/mail"
	"github.com/sternpost/sternpost/server/budget"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/database"
	"github.com/sternpost/sternpost/server/docs"
	"github.com/sternpost/sternpost/server/encryption"
	"github.com/sternpost/sternpost/server/events"
	"github.com/sternpost/sternpost/server/files"
	"github.com/sternpost/sternpost/server/listener"
	"github.com/sternpost/sternpost/server/live"
	"github.com/sternpost/sternpost/server/mailroom"
	"github.com/sternpost/sternpost/server/queue"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/server/signin"
	"github.com/sternpost/sternpost/server/telemetry"
	"github.com/sternpost/sternpost/sql/release"
	"github.com/sternpost/sternpost/storage"
)

// Server serves the newest release of one database.
type Server struct {
	config          config.Config
	log             *slog.Logger
	identifier      Identifier
	policy          *request.Policy
	signIn          *signin.Service
	checkingStorage sync.Once
	queues          []*queue.Queue // of the tasks that this server does
	events          *events.Events
	runs            *queue.Queue // of jobs
	live            *live.Hub
	mails           *queue.Queue // one of them; nil without mail
	files           *files.Service
	docs            *docs.Pages // nil if there are none
	zones           atomic.Pointer[zones]
	db              *database.DB
	encryption      *encryption.Keys // for secrets; nil without a key
	onceKey         []byte           // for the digests of inputs with secrets
	bodies          *budget.Budget
	answers         *budget.Budget
	telemetry       *telemetry.Telemetry
	poll            time.Duration
	withoutRelease  string // what to do while no release is installed; empty means adviceInstall

	public *listener.Listener
	admin  net.Listener // nil if there is none
	app    *fiber.App

	loading  sync.Mutex                  // held while a release is loaded
	catching sync.Mutex                  // held while a call looks for a newer one
	current  atomic.Pointer[served]      // nil until a release is loaded
	process  atomic.Pointer[int32]       // of the connection that follows releases, in the database; nil if it is not known
	unready  atomic.Pointer[unreadiness] // nil means that the newest release is served
	stopping atomic.Bool
	advised  int64 // the release that the database was asked for advice about
	inFlight atomic.Int64
	calls    sync.Pool // of *call
}

// Options are the parts of a server that are not in its configuration.
type Options struct {
	// Role is assumed on every connection; empty means that the login itself has exactly
	// the rights of a server.
	Role string

	// Identifier identifies the caller; nil means by the tokens that this server issues.
	Identifier Identifier

	// Log receives the log; nil means standard error, in the form for the mode.
	Log *slog.Logger

	// Store keeps file contents; nil means the one of the configuration.
	Store storage.Store

	// Mail sends mails; nil means the mail server of the configuration.
	Mail mailroom.Sender

	// Poll is how often the database is polled for a newer release, besides
	// notifications; 0 means every 3 seconds.
	Poll time.Duration

	// Data lets the pages for developers show and change rows, in development only; nil
	// means that they cannot.
	Data docs.Data

	// WithoutRelease says what to do while no release is installed; empty means to install
	// one with sternpost migrate up.
	WithoutRelease string

	// Listener and AdminListener take the place of the configured addresses.
	Listener, AdminListener net.Listener
}

// Identifier identifies the caller; *auth.Tokens does.
type Identifier interface {
	// Identify returns the identity that the values of the Authorization header name;
	// without values it is anonymous. It queries the database only for the keys of
	// machines. A refusal is an *auth.Refusal.
	Identify(ctx context.Context, authorization []string) (auth.Identity, error)
}

// New makes a server and binds its addresses, so that Addr is known and a port in use is
// an error here. It does not wait for the database.
func New(c config.Config, options Options) (*Server, error) {
	s := &Server{
		config:  c,
		log:     options.Log,
		bodies:  budget.ForBodies(c.BodiesLimit, c.BodyLimit),
		answers: budget.ForAnswers(c.AnswersLimit, c.PageLimit),
		poll:    options.Poll,

		withoutRelease: options.WithoutRelease,
		calls:          sync.Pool{New: func() any { return new(call) }},
	}
	if s.log == nil {
		s.log = telemetry.NewLog(c.Mode, os.Stderr)
	}
	if s.poll == 0 {
		s.poll = defaultPoll
	}
	s.policy = request.NewPolicy(request.PolicyOptions{
		BaseURL: c.BaseURL, IsDevelopment: c.Mode == config.Development, Origins: c.CORSOrigins, Trusted: c.TrustedProxies,
		Bodies: s.bodies, Log: s.log,
		BodyLimit: s.bodyLimit, IsOAuth: signin.IsOAuth, IsOutsideCORS: signin.IsOutsideCORS,
	})
	all := knownZones()
	s.zones.Store(&all)
	s.unready.Store(&unreadiness{reason: reasonDatabase})
	var err error
	if c.EncryptionKey != "" {
		if s.encryption, err = encryption.New(c.EncryptionKey, c.PreviousEncryptionKeys); err != nil {
			return nil, fmt.Errorf("read encryption.key: %w", err)
		}
	}
	if s.db, err = database.Open(&s.config, options.Role); err != nil {
		return nil, err
	}
	if err := s.furnish(options); err != nil {
		s.db.Close()
		return nil, err
	}
	s.app = s.newApp()
	return s, nil
}

// furnish sets up the handling of requests, and binds the addresses.
func (s *Server) furnish(options Options) error {
	running := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "sternpost_requests_in_flight", Help: "Requests in progress.",
	}, func() float64 { return float64(s.inFlight.Load()) })
	var err error
	if s.telemetry, err = telemetry.New(context.Background(), s.db.Connections, running, s.config.Environ); err != nil {
		return err
	}
	var secrets auth.Secrets
	if s.encryption != nil {
		secrets = s.encryption
	}
	s.signIn, err = signin.New(signin.Options{
		Config: &s.config, DB: s.db, Policy: s.policy, Registry: s.telemetry.Registry, Log: s.log, Release: s.claims, Mailed: s.mailed, Secrets: secrets,
	})
	if err != nil {
		return err
	}
	if err = s.db.OpenReplicas(&s.config, s.log, s.telemetry.Registry); err != nil {
		return err
	}
	if s.onceKey, err = newOnceKey(s.config.SigningKey); err != nil {
		return err
	}
	if s.identifier = options.Identifier; s.identifier == nil {
		s.identifier = s.signIn.Tokens
	}
	store := options.Store
	if store == nil {
		if store, err = files.Open(&s.config); err != nil {
			return err
		}
	}
	s.files = files.New(files.Options{
		Config: &s.config, DB: s.db, Store: store, Policy: s.policy, Log: s.log,
		Uploads: budget.ForTransfers(s.config.TransfersLimit), Downloads: budget.ForTransfers(s.config.TransfersLimit), Begin: s.begin, Registry: s.telemetry.Registry,
	})
	if err := s.newQueues(options.Mail); err != nil {
		return err
	}
	s.live = s.newLive()
	if s.config.Docs {
		s.docs = docs.New(docs.Options{Config: &s.config, DB: s.db, Policy: s.policy, Release: s.release, OpenMail: s.signIn.Accounts.Open,
			Data: options.Data, IssueToken: s.signIn.Tokens.Issue, FileURL: s.files.URL})
	}
	return s.listen(options)
}

// begin counts an answer as in flight that continues after its handler.
func (s *Server) begin() (end func()) {
	s.inFlight.Add(1)
	return func() { s.inFlight.Add(-1) }
}

// newQueues makes what does the tasks in the database. In development mails are kept for display.
func (s *Server) newQueues(sender mailroom.Sender) (err error) {
	options := queue.Options{DB: s.db, IsServed: s.isTidied, Process: s.process.Load, Log: s.log}
	s.events = events.New(events.Options{
		DB: s.db, IsServed: s.isTidied, Release: s.release, Values: s.values, Timeout: s.config.Jobs.Timeout, Keep: s.config.Changes.Keep,
		Webhooks: s.config.Subscribers, Process: s.process.Load, Registry: s.telemetry.Registry, Log: s.log,
	})
	s.runs = queue.New(options, s.events.Runs())
	s.queues = append(append(s.queues, s.events.Queues(options)...), s.runs)
	for _, kind := range s.files.Deletions() {
		s.queues = append(s.queues, queue.New(options, kind))
	}
	if !s.config.HasMail() {
		return nil
	}
	if sender == nil && s.config.Mail.Host != "" {
		if sender, err = mail.NewSender(s.config.Mail); err != nil {
			return err
		}
	}
	s.mails = queue.New(options, mailroom.Kind(mailroom.Options{
		Sender: sender, Open: s.signIn.Accounts.Open, PerAddress: s.config.MailsPerAddress, IsKept: s.config.Mode == config.Development, Registry: s.telemetry.Registry, Log: s.log,
	}))
	s.queues = append(s.queues, s.mails)
	return nil
}

// mailed has a mail sent at once that was just requested.
func (s *Server) mailed() {
	if s.mails != nil {
		s.mails.Wake()
	}
}

// release returns the served release; nil if there is none.
func (s *Server) release() (number int64, m *release.Manifest) {
	if r := s.current.Load(); r != nil {
		return r.number, r.manifest
	}
	return 0, nil
}

// values returns what the code of jobs may read of the environment, as a JSON object.
func (s *Server) values() string {
	r := s.current.Load()
	if r == nil || len(r.environment) == 0 {
		return "{}"
	}
	return "{" + string(r.environment[1:]) + "}"
}

// claims returns which claims the served release keeps with identities.
func (s *Server) claims() (claims []release.Claim, isServed bool) {
	_, m := s.release()
	if m == nil {
		return nil, false
	}
	return m.Claims, true
}

// listen binds the addresses.
func (s *Server) listen(options Options) error {
	limits, err := listener.NewLimits(s.config.MaxConnections, s.config.PoolSize, s.config.TrustedProxies)
	if err != nil {
		return err
	}
	public := options.Listener
	if public == nil {
		l, err := net.Listen("tcp", s.config.Address())
		if err != nil {
			return fmt.Errorf("listen on %s: %w (set another port: port, or PORT)", s.config.Address(), err)
		}
		public = l
	}
	s.public = listener.New(public, limits, s.log)

	s.admin = options.AdminListener
	if s.admin == nil && s.config.AdminPort != 0 {
		l, err := net.Listen("tcp", s.config.AdminAddress())
		if err != nil {
			public.Close()
			return fmt.Errorf("listen on %s (admin): %w (set another port: admin.port, or STERNPOST_ADMIN_PORT; 0 means none)", s.config.AdminAddress(), err)
		}
		s.admin = l
	}
	return nil
}

// Addr returns the address of the public listener.
func (s *Server) Addr() net.Addr {
	return s.public.Addr()
}

const (
	keptBuffer   = 64 << 10         // of an answer, for reuse; a larger buffer is freed
	writeBuffer  = 16 << 10         // of a connection; an answer that fits into it is sent at once
	headTimeout  = 10 * time.Second // for the header of a request, from the connection or its first byte on
	writeTimeout = 60 * time.Second
	idleTimeout  = 75 * time.Second // longer than the minute that proxies keep connections
)

// newApp sets Fiber up so that every answer comes from this package.
func (s *Server) newApp() *fiber.App {
	app := fiber.New(fiber.Config{
		CaseSensitive:                true,
		StrictRouting:                true,
		StreamRequestBody:            true,
		ReadBufferSize:               listener.HeaderLimit,
		WriteBufferSize:              writeBuffer,
		ReadTimeout:                  headTimeout,
		WriteTimeout:                 writeTimeout,
		IdleTimeout:                  idleTimeout,
		Concurrency:                  2 * s.public.Limits.All, // never reached: fasthttp would answer in its own words
		DisableDefaultContentType:    true,
		DisablePreParseMultipartForm: true,
		DisableStartupMessage:        true,
		ErrorHandler:                 s.answerError,
	})
	s.routes(app)

	fasthttp.SetBodySizePoolLimit(keptBuffer, keptBuffer)
	inner := app.Server()
	inner.Handler = s.receive(app.Handler())
	inner.ErrorHandler = s.unreadable
	inner.HeaderReceived = request.WithholdBody
	inner.KeepHijackedConns = true // streams go on
	inner.ConnState = noteState
	s.public.Parks(inner.ServeConn)
	return app
}

// noteState notes when a connection begins to wait for its next request, and when that request arrives.
func noteState(c net.Conn, state fasthttp.ConnState) {
	own, ok := c.(*listener.Connection)
	switch {
	case !ok:
	case state == fasthttp.StateIdle:
		own.Waits(time.Now())
	case state == fasthttp.StateActive:
		own.Begins()
	}
}

// Run serves until the context ends, then stops gracefully: requests in flight end within
// the shutdown grace, new ones are refused. Run waits for a database that is out of
// reach. It returns an error, with the reasons, if the first database that it reaches
// must not be served.
func (s *Server) Run(ctx context.Context) error {
	background, stopBackground := context.WithCancel(context.Background())
	defer stopBackground()
	ended := make(chan error, 3)

	go s.db.Watch(background)
	go s.sweep(background)
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.events.Run(background)
	}()
	followedAnswers := make(chan struct{})
	go func() {
		defer close(followedAnswers)
		s.live.Run(background)
	}()
	go s.events.Schedule(background, s.runs.Wake)
	for _, q := range s.queues {
		go q.Run(background)
	}
	go s.files.Sweep(background, s.isTidied)
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		if err := s.follow(background); err != nil {
			ended <- err
		}
	}()
	go func() {
		if err := s.app.Listener(s.public); err != nil {
			ended <- fmt.Errorf("serve: %w", err)
		}
	}()
	admin := &http.Server{Handler: s.adminHandler(), ReadTimeout: headTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout}
	if s.admin != nil {
		go func() {
			if err := admin.Serve(s.admin); !errors.Is(err, http.ErrServerClosed) {
				ended <- fmt.Errorf("serve (admin): %w", err)
			}
		}()
	}
	s.log.Info("listening", "address", s.Addr().String(), "baseUrl", s.config.BaseURL,
		"maxConnections", s.public.Limits.All, "maxBodies", s.bodies.Limit)

	var err error
	select {
	case <-ctx.Done():
	case err = <-ended:
	}

	s.stop()
	stopBackground()
	<-followed
	<-read
	<-followedAnswers
	_ = admin.Close()
	s.db.Close()
	end, cancel := context.WithTimeout(context.Background(), database.CancelTimeout)
	defer cancel()
	if stopErr := s.telemetry.Stop(end); stopErr != nil {
		s.log.Error("cannot send the last traces", "error", stopErr)
	}
	s.log.Info("stopped")
	return err
}

// stop refuses new requests, waits for those in flight, and closes everything. The
// listener stays open while anything is in flight, so that new clients get an answer to
// come back instead of a refused connection.
func (s *Server) stop() {
	s.stopping.Store(true)
	s.telemetry.Ready.Set(0)
	s.log.Info("stopping", "inFlight", s.inFlight.Load())

	s.live.Stop(time.Second)
	grace, cancel := context.WithTimeout(context.Background(), s.config.ShutdownGrace)
	defer cancel()
	s.waitIdle(grace)
	if n := s.inFlight.Load(); n > 0 {
		s.log.Warn("requests are still running after server.shutdownGrace", "inFlight", n)
		s.db.CancelAll()
		late, cancel := context.WithTimeout(context.Background(), database.CancelTimeout)
		defer cancel()
		s.waitIdle(late)
	}

	// Only answers in flight and idle connections are left.
	s.public.CloseUnused()
	last, cancel := context.WithTimeout(context.Background(), database.CancelTimeout)
	defer cancel()
	_ = s.app.ShutdownWithContext(last)
}

func (s *Server) waitIdle(ctx context.Context) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for s.inFlight.Load() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
