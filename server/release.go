package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/sternpost/sternpost/server/account"
	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/config"
	"github.com/sternpost/sternpost/server/database"
	"github.com/sternpost/sternpost/server/encryption"
	"github.com/sternpost/sternpost/server/files"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/server/mcp"
	"github.com/sternpost/sternpost/server/openapi"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/server/telemetry"
	"github.com/sternpost/sternpost/sql/release"
)

// served is one release, ready to be served. It is immutable: a newer release replaces it
// as a whole.
type served struct {
	number      int64
	manifest    *release.Manifest
	apis        map[string]*api // by path
	constraints map[string]release.Constraint
	headers     []readHeader // read by the database
	sealed      []string     // headers read only by this server
	environment []byte       // members of every call's context, each after a comma

	// hasCustomCode tells whether there is code that may ask for the name of a request.
	hasCustomCode bool

	isLive bool // whether there are live answers
}

// api is the actions under one path.
type api struct {
	declared    *release.API
	actions     map[string]*action               // by name
	tools       func() (*mcp.Tools, error)       // made on the first message of an agent; nil means that there are none
	description func() (request.Document, error) // made on the first request for it
}

// action is an action, ready to be called.
type action struct {
	*release.Action
	reader  *input.Reader
	byQuery bool // may be called by GET
	call    database.Statement
	follows *input.Reader                  // reads the input of a live answer; nil without
	values  database.Statement             // asks what a live answer depends on of the caller
	early   database.Statement             // for an action whose input is prepared
	judge   database.Statement             // for an action with many rows
	places  *files.ResultPlaces            // of files in its result; nil means none
	answers *answer.Declared               // what its custom code must answer; nil means that it is not compared
	forms   map[string]*database.Statement // by operator set
	seeks   bool                           // whether forms take a cursor
	sealed  []sealedText                   // the values that it makes from texts
	metrics *telemetry.Action

	takesSealed bool // it takes passwords, secrets, or texts that become one
}

// readHeader is a header that some rule reads.
type readHeader struct {
	name   string // as sent
	member []byte // "snake_form":
}

// errNoRelease ends when a release is installed.
var errNoRelease = errors.New("no release is installed in the database")

// newestRelease returns the number of the newest release, or 0 for none, and whether the
// database is read-only.
func newestRelease(ctx context.Context, conn *pgx.Conn) (number int64, isReadOnly bool, err error) {
	err = database.QueryRow(ctx, conn, `select coalesce(max(number), 0), current_setting('transaction_read_only') = 'on' from platform.release`, nil,
		&number, &isReadOnly)
	switch refusal.SQLState(err) {
	case "42P01", "3F000": // nothing was ever installed: there is no such table, or not even its schema
		return 0, false, errNoRelease
	}
	if err != nil {
		return 0, false, fmt.Errorf("look up the newest release: %w", err)
	}
	return number, isReadOnly, nil
}

// loadRelease loads the newest release and checks that this server can serve it.
func (s *Server) loadRelease(ctx context.Context, conn *pgx.Conn) (*served, error) {
	// One snapshot, so that the functions belong to the release.
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("load the newest release: %w", err)
	}
	defer tx.Rollback(ctx)
	if err := database.Settle(ctx, tx); err != nil {
		return nil, err
	}

	var installed answer.Release
	var raw []byte
	err = tx.QueryRow(ctx, `
		select release.number, release.manifest, coalesce(pg_class.oid::bigint, 0), coalesce(pg_class.relfilenode::bigint, 0)
		from platform.release
		left join pg_class on pg_class.oid = to_regclass('platform.release_mark')
		order by release.number desc
		limit 1`).Scan(&installed.Number, &raw, &installed.Mark, &installed.File)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, errNoRelease
	}
	if err != nil {
		return nil, fmt.Errorf("load the newest release: %w", err)
	}
	// The release is built while the database looks at its catalog: each takes half of the time of a start.
	built := make(chan builtRelease, 1)
	go func() { built <- s.readRelease(installed, raw) }()
	found, err := inspect(ctx, tx)
	r := <-built
	switch {
	case r.err != nil:
		return nil, r.err
	case err != nil:
		return nil, err
	}
	unsafe := len(found.faults) > 0
	faults := slices.Concat(found.faults, checkFunctions(r.manifest, found.declared), r.faults)
	if len(faults) > 0 {
		return nil, &database.Incompatible{Faults: faults, Unsafe: unsafe}
	}
	s.checkStorage(r.served)
	return r.served, nil
}

// builtRelease is a release that was read and built.
type builtRelease struct {
	manifest *release.Manifest
	served   *served
	faults   []string // in the manifest, and between it and this server
	err      error
}

// readRelease reads a manifest and builds its release.
func (s *Server) readRelease(installed answer.Release, raw []byte) builtRelease {
	manifest, err := release.ReadManifest(raw)
	if err != nil {
		return builtRelease{err: fmt.Errorf("read release %d: %w", installed.Number, err)}
	}
	r, faults := s.build(installed, manifest)
	return builtRelease{manifest: manifest, served: r, faults: faults}
}

// inspection is the state of a database as a server finds it.
type inspection struct {
	faults   []string
	declared map[string]declaredFunction
}

// inspect checks a database for this server's role.
func inspect(ctx context.Context, tx pgx.Tx) (found inspection, err error) {
	if found.faults, err = servingFaults(ctx, tx); err != nil {
		return found, err
	}
	found.declared, err = declaredFunctions(ctx, tx)
	return found, err
}

// checkStorage tries once, in the background, whether files can be stored, if the release has any. The server serves
// in any case: records without files do not need storage.
func (s *Server) checkStorage(r *served) {
	hasFiles := slices.ContainsFunc(r.manifest.Actions, func(a *release.Action) bool { return len(a.Files) > 0 || len(a.Inline) > 0 })
	if s.config.Storage.Check && hasFiles {
		s.checkingStorage.Do(func() { go s.files.CheckStore(context.Background()) })
	}
}

// servingFaults asks the database for the reasons why it is not safe to serve under this server's role.
func servingFaults(ctx context.Context, tx pgx.Tx) ([]string, error) {
	rows, err := tx.Query(ctx, "select said from platform.serving_faults() as said")
	if err != nil {
		return nil, fmt.Errorf("check the rights of the server: %w", err)
	}
	faults, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("check the rights of the server: %w", err)
	}
	return faults, nil
}

// logAdvice logs what the database advises for the served release, once for each release. It is not asked before the
// release is served, since no advice keeps a server from serving.
func (s *Server) logAdvice(ctx context.Context, conn *pgx.Conn) {
	number := s.current.Load().number
	if number == s.advised {
		return
	}
	s.advised = number                                               // it is not asked again after an error
	ctx, cancel := context.WithTimeout(ctx, 2*database.CheckTimeout) // the connection's statement_timeout comes before
	defer cancel()
	var notes []string
	err := database.QueryRow(ctx, conn, "select array(select said from platform.serving_notes() as said)", nil, &notes)
	if err != nil {
		s.log.Warn("cannot ask the database for advice", "error", err)
		return
	}
	for _, note := range notes {
		s.log.Warn(note)
	}
}

// declaredFunction is the declared result of a function in schema api.
type declaredFunction struct {
	result     string // text, boolean, or rows
	volatility string // as in pg_proc
}

// rowsResult is the result of a function that returns rows. Their columns become known
// when its call is prepared.
const rowsResult = "rows"

// declaredFunctions lists the functions in schema api that this role may call, by their
// signature. Only those with a result of an action or an early decision are listed.
func declaredFunctions(ctx context.Context, tx pgx.Tx) (map[string]declaredFunction, error) {
	// Rights are checked after the functions of other schemas are filtered out: each check reads the catalog, and
	// Postgres has thousands of functions.
	rows, err := tx.Query(ctx, `
		with declared as materialized (
			select pg_proc.*, typtype
			from pg_catalog.pg_proc
			join pg_catalog.pg_type on pg_type.oid = prorettype
			where pronamespace = 'api'::regnamespace
				and prokind = 'f'
				and (prorettype in ('text'::regtype, 'boolean'::regtype, 'jsonb'::regtype) or typtype = 'c' or prorettype = 'record'::regtype)
		)
		select format('%s (%s)', proname, oidvectortypes(proargtypes)), case when proretset or typtype = 'c' then 'rows' else prorettype::regtype::text end, provolatile::text
		from declared
		where has_function_privilege(oid, 'execute')`)
	if err != nil {
		return nil, fmt.Errorf("read the signatures of the functions: %w", err)
	}
	functions := map[string]declaredFunction{}
	var called string
	var f declaredFunction
	_, err = pgx.ForEachRow(rows, []any{&called, &f.result, &f.volatility}, func() error {
		functions[called] = f
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the signatures of the functions: %w", err)
	}
	return functions, nil
}

// checkFunctions compares the functions in the manifest with those in the database. A
// reading action must not have a volatile one.
func checkFunctions(m *release.Manifest, declared map[string]declaredFunction) []string {
	var faults []string
	for _, a := range m.Actions {
		plain := func(function string) string { return function + " (" + release.PlainSignature + ")" }
		calls := []string{a.Function + " (" + a.Signature() + ")"}
		for _, f := range a.Foreseen {
			calls = append(calls, f.Function+" ("+f.Signature()+")")
		}
		for _, called := range calls {
			result := "text"
			if a.Record != "" || a.Row != "" {
				result = rowsResult
			}
			switch f := declared[called]; {
			case f.result != result:
				faults = append(faults, fmt.Sprintf("action %s: no function api.%s with result %s that the server may execute", a.Name, called, result))
			case f.volatility == "v" && !a.Kind.Writes():
				faults = append(faults, fmt.Sprintf("action %s: function api.%s of a %s action is volatile", a.Name, called, a.Kind))
			}
		}
		if a.Facets != "" {
			switch f := declared[plain(a.Facets)]; {
			case f.result != "text":
				faults = append(faults, fmt.Sprintf("action %s: no function api.%s with result text that the server may execute", a.Name, plain(a.Facets)))
			case f.volatility == "v":
				faults = append(faults, fmt.Sprintf("action %s: function api.%s of a %s action is volatile", a.Name, plain(a.Facets), a.Kind))
			}
		}
		if a.Live != nil && a.Live.Function != "" && declared[plain(a.Live.Function)].result != "jsonb" {
			faults = append(faults, fmt.Sprintf("action %s: no function api.%s with result jsonb that the server may execute", a.Name, plain(a.Live.Function)))
		}
		if a.Early != "" && declared[plain(a.Early)].result != "boolean" {
			faults = append(faults, fmt.Sprintf("action %s: no function api.%s with result boolean that the server may execute", a.Name, plain(a.Early)))
		}
	}
	return faults
}

// build makes a release ready to be served. It lists the faults in the manifest itself,
// and between it and the environment of this server.
func (s *Server) build(installed answer.Release, m *release.Manifest) (r *served, faults []string) {
	m = account.Extend(m, account.Offer{Mail: s.config.HasMail(), Passwords: s.config.PasswordEnabled, Secrets: s.encryption != nil, Passkeys: s.config.Passkeys.RPID != "",
		Providers: len(s.config.Providers) > 0})
	r = &served{number: installed.Number, manifest: m, apis: map[string]*api{}, constraints: m.Constraints, isLive: m.HasLive()}

	if err := limitPages(m, s.config.Pagination); err != nil {
		faults = append(faults, err.Error())
	}
	actions, unsets := map[string]*action{}, map[unset][]string{}
	for _, a := range m.Actions {
		built, err := s.buildAction(installed, m, a)
		if missing, isUnset := err.(unset); isUnset {
			unsets[missing] = append(unsets[missing], a.Name)
		} else if err != nil {
			faults = append(faults, err.Error())
		}
		actions[a.Name] = built
		r.hasCustomCode = r.hasCustomCode || a.Custom
	}
	for _, missing := range slices.Sorted(maps.Keys(unsets)) {
		faults = append(faults, missing.neededBy(unsets[missing]))
	}
	for _, declared := range m.APIs {
		exposed := &api{declared: &declared, actions: map[string]*action{}}
		if slices.Contains(s.config.MCP.APIs, declared.Name) {
			exposed.tools = sync.OnceValues(func() (*mcp.Tools, error) {
				return mcp.NewTools(m, &declared, slices.Contains(s.config.MCP.Writes, declared.Name))
			})
		}
		exposed.description = sync.OnceValues(func() (request.Document, error) {
			text, err := openapi.Describe(m, &declared, installed.Number, s.config.BaseURL, s.config.Name)
			return request.NewDocument(text), err
		})
		for _, name := range declared.Actions {
			a, ok := actions[name]
			if !ok {
				faults = append(faults, fmt.Sprintf("api %s: unknown action %s", declared.Name, name))
			}
			exposed.actions[name] = a
		}
		r.apis[declared.Path] = exposed
	}

	faults = append(append(faults, s.subscriberFaults(m)...), s.mailFaults(m)...)
	for _, name := range s.config.MCP.APIs {
		if !slices.ContainsFunc(m.APIs, func(a release.API) bool { return a.Name == name }) {
			faults = append(faults, fmt.Sprintf("mcp.apis: there is no api %s", name))
		}
	}

	for _, snake := range m.Headers {
		r.headers = append(r.headers, readHeader{
			name:   headerName(snake),
			member: append(answer.Quote(nil, snake), ':'),
		})
	}
	for _, a := range m.Actions {
		for _, sealed := range a.Sealed {
			if name := headerName(sealed.Header); name != "" && !slices.Contains(m.Headers, sealed.Header) && !slices.Contains(r.sealed, name) {
				r.sealed = append(r.sealed, name)
			}
		}
	}
	env, missing := s.environment("env", m.Environment, m.Compared)
	secrets, more := s.environment("secrets", m.Secrets, m.Secrets)
	r.environment = append(env, secrets...)
	return r, slices.Concat(faults, missing, more)
}

func (s *Server) buildAction(installed answer.Release, m *release.Manifest, a *release.Action) (*action, error) {
	reader, err := input.Compile(m.Schemas, a.Input)
	if err != nil {
		return nil, fmt.Errorf("action %s: %w", a.Name, err)
	}
	if account.Is(a) {
		return &action{Action: a, reader: reader, metrics: s.telemetry.Action(a.Name)}, nil
	}
	reader = reader.WithPaging(pagingOf(s.config.Pagination))
	if most := s.config.RowsLimit; most > 0 && (a.Kind == release.Create || a.Kind == release.Update) {
		reader.LimitRows(most, a.Kind == release.Update)
	}
	places, err := files.PlacesOf(m.Schemas, a.Result)
	if err != nil {
		return nil, fmt.Errorf("action %s: %w", a.Name, err)
	}
	sealed, err := s.sealedTexts(a)
	if err != nil {
		return nil, err
	}
	if a.Invitation != "" && !(s.config.HasMail() && s.config.PasswordEnabled) {
		return nil, unset("mail.smtp.host and mail.from are required to send invitations, and auth.password.enabled to accept them: set them in sternpost.yaml")
	}
	takesFiles, takesSecrets := reader.TakesFiles(), reader.TakesSecrets()
	switch {
	case (takesFiles || takesSecrets || reader.TakesPasswords() || len(sealed) > 0) && a.Early == "":
		return nil, fmt.Errorf("action %s takes files, passwords or secrets and has no early decision", a.Name)
	case takesSecrets && s.encryption == nil:
		return nil, unset(encryption.Missing)
	case (takesFiles || places != nil) && !s.files.IsConfigured():
		return nil, unset(strings.Join(s.config.Storage.Faults(), "; "))
	}
	readOnly := !a.Kind.Writes()
	built := &action{
		Action:  a,
		reader:  reader,
		byQuery: readOnly && isObject(m.Schemas, a.Input),
		call:    database.NewStatement(installed, a.Function, answer.NewPlan(m, a, s.config.PageLimit)),
		places:  places,
		forms:   map[string]*database.Statement{},
		sealed:  sealed,
		metrics: s.telemetry.Action(a.Name),
	}
	if s.config.Mode == config.Development && a.Custom && a.Record == "" && a.Result != "" {
		if built.answers, err = answer.NewDeclared(m.Schemas, a.Result); err != nil {
			return nil, fmt.Errorf("action %s: %w", a.Name, err)
		}
	}
	if a.Early != "" {
		built.early = database.NewStatement(installed, a.Early, answer.NewValue(a.Early))
	}
	if a.Live != nil {
		built.follows = reader.WithPaging(input.Paging{Size: s.config.Pagination.DefaultSize})
		if a.Live.Function != "" {
			built.values = database.NewStatement(installed, a.Live.Function, answer.NewValue(a.Live.Function))
		}
	}
	if a.Row != "" {
		built.judge = database.NewStatement(installed, a.Function, answer.NewJudge(a.Function))
	}
	built.call.Shared = a.Kind == release.Get && !a.Custom
	built.call.Custom = a.Custom
	built.call.Writes, built.call.Who.Action = a.Kind.Writes(), a.Name
	built.takesSealed = takesSecrets || reader.TakesPasswords() || len(sealed) > 0
	for _, f := range a.Foreseen {
		built.seeks = f.Seeks
		for i, set := range f.Forms {
			form := database.NewStatement(installed, strconv.Itoa(i)+"_"+f.Function, answer.NewForm(m, a, f, set, s.config.PageLimit))
			form.Shared, form.Who.Action = true, a.Name
			built.forms[set] = &form
		}
	}
	return built, nil
}

// subscriberFaults says which webhooks have no address here, and which subscribers have both an address and code.
func (s *Server) subscriberFaults(m *release.Manifest) (faults []string) {
	for _, subscriber := range m.Subscribers {
		name := subscriber.Name
		at := slices.IndexFunc(s.config.Subscribers, func(c config.Subscriber) bool { return c.Name == name })
		switch {
		case subscriber.Run != "" && at >= 0:
			faults = append(faults, fmt.Sprintf("subscriber %s has code, and an address in the configuration: remove subscribers.%[1]s (TwoSubscribers)", name))
		case subscriber.Run != "":
		case at < 0:
			faults = append(faults, fmt.Sprintf("subscriber %s has no code, so it is a webhook, and has no address: set subscribers.%[1]s.url", name))
		case s.config.Subscribers[at].Secret == nil:
			faults = append(faults, fmt.Sprintf("webhook %s has no secret: set %s, or subscribers.%[1]s.secret", name, config.SubscriberVariable(name)))
		}
	}
	return faults
}

// unset names settings that an action needs and the configuration lacks.
type unset string

func (u unset) Error() string { return string(u) }

// neededBy reports it once for all actions that need the settings.
func (u unset) neededBy(actions []string) string {
	if len(actions) == 1 {
		return fmt.Sprintf("action %s: %s", actions[0], u)
	}
	return fmt.Sprintf("action %s and %d more: %s", actions[0], len(actions)-1, u)
}

// isObject tells whether a component is an object. Any other component takes arbitrary
// JSON, which a query string cannot express.
func isObject(schemas release.Schemas, name string) bool {
	schema, err := schemas.Read(name)
	if err == nil {
		schema, _, err = schemas.Resolve(schema)
	}
	return err == nil && slices.Equal(schema.Types, []string{"object"})
}

// environment builds a member of every call's context from values of this server's
// environment, and lists the names without a value. An empty text is no value for those
// that a rule may compare: it would admit whoever sends nothing.
func (s *Server) environment(member string, names, notEmpty []string) (part []byte, missing []string) {
	if len(names) == 0 {
		return nil, nil
	}
	part = append(part, `,"`+member+`":{`...)
	for i, name := range names {
		value, ok := s.variable(name)
		if !ok {
			missing = append(missing, fmt.Sprintf("set the environment variable %s: the schema reads it as ctx.%s.%s", name, member, name))
		} else if value == "" && slices.Contains(notEmpty, name) {
			missing = append(missing, fmt.Sprintf("the environment variable %s is empty: the schema reads it as ctx.%s.%s, so give it a value", name, member, name))
		}
		if i > 0 {
			part = append(part, ',')
		}
		part = answer.Quote(part, name)
		part = append(part, ':')
		part = answer.Quote(part, value)
	}
	return append(part, '}'), missing
}

// variable returns a value of this server's environment.
func (s *Server) variable(name string) (value string, ok bool) {
	for _, v := range s.config.Environ {
		if n, found, _ := strings.Cut(v, "="); n == name {
			value, ok = found, true // the last one wins
		}
	}
	return value, ok
}

// mailFaults says which mails of code this server cannot send.
func (s *Server) mailFaults(m *release.Manifest) (faults []string) {
	if len(m.Mails) == 0 {
		return nil
	}
	templates, err := s.signIn.Accounts.Templates()
	if err != nil {
		return []string{err.Error()}
	}
	for _, name := range m.Mails {
		if !templates.Has(name) {
			faults = append(faults, fmt.Sprintf("code may send the mail %s: put mail/%[1]s.txt of the project beside sternpost.yaml", name))
		}
	}
	if !s.config.HasMail() {
		faults = append(faults, fmt.Sprintf("code may send mails (%s): set mail.smtp.host", strings.Join(m.Mails, ", ")))
	}
	return faults
}
