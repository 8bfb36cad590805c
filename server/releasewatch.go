package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sternpost/sternpost/server/database"
	"github.com/sternpost/sternpost/server/refusal"
)

// The reasons why a server is not ready, as /readyz reports them.
const (
	reasonDatabase = "database" // it cannot be reached
	reasonSchema   = "schema"   // it holds another release than the served one, or none
	reasonStopping = "stopping"
)

// unreadiness is the reason why the newest release is not served.
type unreadiness struct {
	reason string
	cause  string
}

const (
	// defaultPoll is how often the server polls the database for its newest release,
	// since some poolers drop notifications.
	defaultPoll = 3 * time.Second
	// reconnectDelay grows up to the poll interval.
	reconnectDelay = 100 * time.Millisecond
)

// follow keeps the newest release loaded, on a connection of its own, and reports its
// state through readiness. It returns when the context ends, or when the first database
// that it reaches must not be served at all.
func (s *Server) follow(ctx context.Context) error {
	delay, wasReady := reconnectDelay, false
	for {
		err := s.followOn(ctx, func() { delay, wasReady = reconnectDelay, true })
		if ctx.Err() != nil {
			return nil
		}
		var unfit *database.Incompatible
		if errors.As(err, &unfit) && !wasReady {
			return fmt.Errorf("%w\n%s", err, s.advice(err))
		}
		if err != errLookAgain {
			s.notReady(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(delay):
		}
		delay = min(2*delay, s.poll)
	}
}

// errLookAgain ends the following on a connection to a database that refuses writes.
var errLookAgain = errors.New("look for a database that accepts writes")

// followOn follows on one connection, until that breaks, holds a release that cannot be
// served, or no longer leads to a database that takes writes.
func (s *Server) followOn(ctx context.Context, isReady func()) error {
	conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer database.Drop(conn)
	defer s.process.Store(nil)
	s.db.OpenShared() // while the release is checked

	looksAgain := s.db.LooksAgain()
	for asked := false; ; asked = true {
		if asked && s.db.LooksAgain() {
			return errLookAgain
		}
		isReadOnly, err := s.refresh(ctx, conn)
		if err != nil {
			return err
		}
		s.noteWritability(isReadOnly)
		s.ready()
		isReady()
		s.logAdvice(ctx, conn)
		if !asked && !looksAgain { // they take a while, so the server answers the first requests before them
			s.limitZones(ctx, conn)
		}

		wait, stop := context.WithTimeout(ctx, s.poll)
		_, err = conn.WaitForNotification(wait)
		stop()
		if err != nil && (ctx.Err() != nil || conn.IsClosed() || !pgconn.Timeout(err)) {
			return fmt.Errorf("wait for a release: %w", err)
		}
	}
}

// noteWritability notes whether the database takes writes, according to a new connection.
func (s *Server) noteWritability(isReadOnly bool) {
	wasReadOnly := !s.db.TakesWrites()
	isLeft := s.db.NoteWritability(isReadOnly)
	switch {
	case isReadOnly && !wasReadOnly:
		s.log.Warn("the database does not accept writes: it is a standby, or default_transaction_read_only is on")
	case isLeft:
		s.log.Info("the database accepts writes")
	}
}

// limitZones keeps only the time zones that the database knows.
func (s *Server) limitZones(ctx context.Context, conn *pgx.Conn) {
	names, err := databaseZones(ctx, conn, knownZones())
	if err != nil {
		s.log.Warn("cannot compare the time zones with those of the database", "error", err)
		return
	}
	zones := knownZones().within(names)
	s.zones.Store(&zones)
}

// connect opens the connection for following releases.
func (s *Server) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := s.db.Dial(ctx, database.Setting{Name: "statement_timeout", Value: strconv.FormatInt(database.CheckTimeout.Milliseconds(), 10)})
	if err != nil {
		return nil, err
	}
	if session := database.SessionOf(conn.PgConn()); session.IsPooled() { // the pooler passes no notifications
		s.log.Info("connections go through a pooler", "preparedStatements", session.IsNamed)
		return conn, nil
	}
	ctx, cancel := context.WithTimeout(ctx, database.CheckTimeout)
	defer cancel()
	if err := listen(ctx, conn); err != nil {
		database.Drop(conn)
		return nil, fmt.Errorf("listen for releases: %w", err)
	}
	var process int32
	if err := conn.QueryRow(ctx, "select pg_backend_pid()").Scan(&process); err != nil {
		database.Drop(conn)
		return nil, fmt.Errorf("ask for the process of a connection: %w", err)
	}
	s.process.Store(&process)
	return conn, nil
}

// listen subscribes to notifications of releases. A database that has none, or sends none
// while it is a replica, is still polled for its release.
func listen(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "listen sternpost_release")
	switch refusal.SQLState(err) {
	case "0A000", "25006", "42501", "42601": // not supported, read-only, not allowed, not even understood
		return nil
	}
	return err
}

// refresh loads the newest release unless it is already served. It tells whether the
// database is read-only.
func (s *Server) refresh(ctx context.Context, conn *pgx.Conn) (isReadOnly bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, database.CheckTimeout)
	defer cancel()
	s.loading.Lock()
	defer s.loading.Unlock()

	number, isReadOnly, err := newestRelease(ctx, conn)
	if err != nil {
		return false, err
	}
	if r := s.current.Load(); r != nil && r.number == number {
		return isReadOnly, nil
	}
	r, err := s.loadRelease(ctx, conn)
	for unfit := new(database.Incompatible); errors.As(err, &unfit); r, err = s.loadRelease(ctx, conn) {
		// A release that is installed during this load changes the names of the catalog,
		// which are in no snapshot. Then that release must be checked.
		now, _, errNow := newestRelease(ctx, conn)
		if errNow != nil || now == number {
			break
		}
		number = now
	}
	if err != nil {
		return false, err
	}
	if s.current.Swap(r) != nil {
		s.live.EndAll() // clients come again, and say what they have
	}
	s.telemetry.Release.Set(float64(r.number))
	s.log.Info("serving release", "release", r.number)
	return isReadOnly, nil
}

// catchUp looks for a newer release at once, because a function of the served one was
// missing. It tells whether it found one. If many calls miss a function at the same time,
// only one looks.
func (s *Server) catchUp(than int64) (bool, error) {
	isNewer := func() bool {
		r := s.current.Load()
		return r != nil && r.number != than
	}
	s.catching.Lock()
	defer s.catching.Unlock()
	if isNewer() {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), database.CheckTimeout)
	defer cancel()
	conn, err := s.db.Acquire()
	if err != nil {
		return false, err
	}
	defer conn.Release()
	switch _, err := s.refresh(ctx, conn.Conn()); {
	case err != nil && isOutOfReach(err):
		return false, refusal.Unavailable.With(err)
	case err != nil:
		s.log.Error("cannot load the newest release", "error", err)
	}
	return isNewer(), nil
}

func (s *Server) ready() {
	if old := s.unready.Swap(nil); old != nil {
		s.log.Info("ready")
	}
	s.telemetry.Ready.Set(1)
}

// notReady notes why the newest release is not served. The server continues to serve the
// release before it where possible, but not from a database that has become unsafe.
func (s *Server) notReady(err error) {
	reason := reasonSchema
	if isOutOfReach(err) {
		reason = reasonDatabase
	}
	var unfit *database.Incompatible
	if errors.As(err, &unfit) && unfit.Unsafe {
		s.current.Store(nil)
	}
	s.telemetry.Ready.Set(0)
	now := unreadiness{reason, err.Error()}
	if old := s.unready.Swap(&now); old == nil || *old != now {
		attributes := []any{"reason", reason, "error", err}
		if do := s.advice(err); do != "" {
			attributes = append(attributes, "do", do)
		}
		s.log.Error("not ready", attributes...)
	}
}

// advice tells how to fix a database that cannot be served.
func (s *Server) advice(err error) string {
	do := advice(err, s.db.User())
	if do == adviceInstall && s.withoutRelease != "" {
		return s.withoutRelease
	}
	return do
}

// isOutOfReach distinguishes a database that cannot be reached from one that gives an
// unexpected answer.
func isOutOfReach(err error) bool {
	var raised *pgconn.PgError
	if errors.As(err, &raised) {
		class := raised.Code[:min(2, len(raised.Code))]
		return class == "08" || class == "53" || class == "57" || class == "28" || raised.Code == "3D000"
	}
	var network net.Error
	var refused *pgconn.ConnectError
	return errors.As(err, &refused) || errors.As(err, &network) || pgconn.Timeout(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
