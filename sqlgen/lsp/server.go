package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
)

// Options are the settings of a server.
type Options struct {
	Version string        // of the program, for the editor to show
	Log     io.Writer     // what goes wrong within the server
	Quiet   time.Duration // how long nothing must have changed before a project is checked
}

// ErrAbandoned says that the client left without asking for a shutdown.
var ErrAbandoned = errors.New("the editor left without saying so")

// codeNotInitialized is the protocol's own error code for a request that comes too early.
const codeNotInitialized jrpc2.Code = -32002

// Serve serves one client until it leaves or ctx ends. It answers a message that is not
// JSON-RPC with an error. A message without proper frame ends the server, since the next
// one cannot be found. Serve may return while in is still being read; it closes neither
// in nor out.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	s := &server{options: o, ctx: ctx, changed: make(chan struct{}, 1), exited: make(chan struct{}),
		compilations: map[string]*compilation{}}
	s.handlers = s.methods()
	s.rpc = jrpc2.NewServer(s, &jrpc2.ServerOptions{
		AllowPush:      true,
		DisableBuiltin: true,
		NewContext:     func() context.Context { return ctx },
	})
	s.rpc.Start(channel.Header("")(in, openWriter{out})) // the usual content type is not worth a header

	var checking sync.WaitGroup
	checking.Go(func() { s.checkChanges(ctx) })
	defer checking.Wait()
	defer cancel() // before the wait
	ended := make(chan error, 1)
	go func() { ended <- s.rpc.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("read from the editor: %w", err)
		}
	case <-s.exited:
		// The reader may still wait for input, which is not ours to close.
		s.rpc.Stop()
	case <-ctx.Done():
		s.rpc.Stop()
		return nil
	}
	if s.phase() != phaseShutDown {
		return ErrAbandoned
	}
	return nil
}

// openWriter leaves closing to its opener.
type openWriter struct{ io.Writer }

func (openWriter) Close() error { return nil }

// phase is the phase of a session.
type phase int

const (
	phaseStarting phase = iota
	phaseRunning
	phaseShutDown
)

// server serves one client.
type server struct {
	options  Options
	ctx      context.Context // ends with the server
	rpc      *jrpc2.Server
	handlers map[string]jrpc2.Handler
	changed  chan struct{} // holds a value when a project is dirty
	exited   chan struct{}
	exitOnce sync.Once

	mu       sync.Mutex
	current  phase
	client   initializeParams
	units    encoding
	projects []*project // in the order in which their first document was opened

	compilations map[string]*compilation // the last one of each project, by its key
}

// methods returns the methods of the server. Answers take milliseconds, so a cancelled
// request is answered like any other, which the protocol allows.
func (s *server) methods() map[string]jrpc2.Handler {
	return map[string]jrpc2.Handler{
		"initialize":                      handler(s.initialize),
		"initialized":                     handler(s.initialized),
		"shutdown":                        handler(s.shutdown),
		"exit":                            handler(s.exit),
		"textDocument/didOpen":            handler(s.didOpen),
		"textDocument/didChange":          handler(s.didChange),
		"textDocument/didClose":           handler(s.didClose),
		"textDocument/didSave":            handler(s.didSave),
		"workspace/didChangeWatchedFiles": handler(s.filesChanged),
		"workspace/symbol":                handler(s.workspaceSymbols),
		"sternpost/generated":             handler(s.generated),

		"textDocument/hover":                about(s, (*view).hover),
		"textDocument/definition":           about(s, (*view).definition),
		"textDocument/completion":           about(s, (*view).completion),
		"textDocument/documentSymbol":       about(s, (*view).documentSymbols),
		"textDocument/formatting":           about(s, (*view).formatting),
		"textDocument/references":           about(s, (*view).references),
		"textDocument/documentHighlight":    about(s, (*view).highlights),
		"textDocument/prepareRename":        about(s, (*view).prepareRename),
		"textDocument/rename":               about(s, (*view).rename),
		"textDocument/codeAction":           about(s, (*view).codeActions),
		"textDocument/implementation":       about(s, (*view).implementation),
		"textDocument/inlayHint":            about(s, (*view).inlayHints),
		"textDocument/signatureHelp":        about(s, (*view).signatureHelp),
		"textDocument/semanticTokens/full":  about(s, (*view).semanticTokens),
		"textDocument/semanticTokens/range": about(s, (*view).semanticTokensRange),
	}
}

// about makes a handler of a function that answers about an open document. Otherwise there is nothing to answer.
func about[P interface{ uri() string }, R any](s *server, f func(*view, P) (R, error)) jrpc2.Handler {
	return handler(func(_ context.Context, p P) (result R, err error) {
		if v := s.view(p.uri()); v != nil {
			return f(v, p)
		}
		return result, nil
	})
}

// none is for absent parameters or an absent result.
type none struct{}

// handler makes a handler of a function with parameters of its own type.
func handler[P, R any](f func(context.Context, P) (R, error)) jrpc2.Handler {
	return func(ctx context.Context, r *jrpc2.Request) (any, error) {
		var params P
		if err := r.UnmarshalParams(&params); err != nil {
			return nil, err
		}
		result, err := f(ctx, params)
		if err != nil {
			return nil, err
		}
		if _, isNone := any(result).(none); isNone {
			return nil, nil
		}
		return result, nil
	}
}

// Assign returns the handler of a method. The handler decides whether it is the time
// for it. A bug in the server costs one answer.
func (s *server) Assign(context.Context, string) jrpc2.Handler {
	return func(ctx context.Context, r *jrpc2.Request) (result any, err error) {
		defer func() {
			if bug := recover(); bug != nil {
				s.log("%s: %v\n%s", r.Method(), bug, debug.Stack())
				result, err = nil, jrpc2.Errorf(jrpc2.InternalError, "a bug in sternpost: %v", bug)
			}
		}()
		current := s.phase()
		switch {
		case r.Method() == "exit":
		case current == phaseStarting && r.Method() != "initialize":
			return nil, jrpc2.Errorf(codeNotInitialized, "the first request is initialize")
		case current == phaseRunning && r.Method() == "initialize":
			return nil, jrpc2.Errorf(jrpc2.InvalidRequest, "initialize comes once")
		case current == phaseShutDown:
			return nil, jrpc2.Errorf(jrpc2.InvalidRequest, "after shutdown there is only exit")
		}
		h := s.handlers[r.Method()]
		if h == nil {
			return nil, jrpc2.Errorf(jrpc2.MethodNotFound, "no method %q", r.Method())
		}
		return h(ctx, r)
	}
}

func (s *server) phase() phase {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

func (s *server) log(format string, args ...any) {
	fmt.Fprintf(s.options.Log, "sternpost lsp: "+format+"\n", args...)
}

func (s *server) initialize(_ context.Context, p initializeParams) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.client = phaseRunning, p
	s.units = chooseEncoding(p.Capabilities.General.PositionEncodings)
	return object{
		"serverInfo": object{"name": "sternpost", "version": s.options.Version},
		"capabilities": object{
			"positionEncoding":           s.units,
			"textDocumentSync":           object{"openClose": true, "change": syncIncremental, "save": true},
			"completionProvider":         object{"triggerCharacters": []string{".", "@"}},
			"hoverProvider":              true,
			"definitionProvider":         true,
			"documentSymbolProvider":     true,
			"documentFormattingProvider": true,
			"referencesProvider":         true,
			"documentHighlightProvider":  true,
			"workspaceSymbolProvider":    true,
			"renameProvider":             object{"prepareProvider": true},
			"codeActionProvider":         object{"codeActionKinds": []string{"quickfix"}},
			"implementationProvider":     true,
			"inlayHintProvider":          true,
			"signatureHelpProvider":      object{"triggerCharacters": []string{"(", ","}},
			"semanticTokensProvider": object{
				"legend": object{"tokenTypes": tokenTypes, "tokenModifiers": tokenModifiers}, "range": true, "full": true,
			},
		},
	}, nil
}

// initialized asks the client to report files that change on disk, if it can.
func (s *server) initialized(context.Context, none) (none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.client.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration {
		return none{}, nil
	}
	var watchers []object
	for _, pattern := range []string{"**/*.{stern,keel}", "**/sternpost.yaml", "**/functions/*.sql"} {
		watchers = append(watchers, object{"globPattern": pattern})
	}
	// The answer is read by the loop that waits for this handler.
	go func() {
		_, err := s.rpc.Callback(s.ctx, "client/registerCapability", object{"registrations": []object{
			{"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": object{"watchers": watchers}},
		}})
		if err != nil && s.ctx.Err() == nil {
			s.log("ask to watch files: %v", err)
		}
	}()
	return none{}, nil
}

func (s *server) shutdown(context.Context, none) (none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = phaseShutDown
	return none{}, nil
}

func (s *server) exit(context.Context, none) (none, error) {
	s.exitOnce.Do(func() { close(s.exited) })
	return none{}, nil
}

func (s *server) didOpen(_ context.Context, p changeParams) (none, error) {
	key, dir, name, ok := place(p.TextDocument.URI)
	if !ok {
		return none{}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.projects, func(p *project) bool { return p.key == key })
	if i < 0 {
		i = len(s.projects)
		s.projects = append(s.projects, &project{key: key, dir: dir})
	}
	opened := &document{p.TextDocument.URI, name, p.TextDocument.Version, []byte(p.TextDocument.Text)}
	s.replace(s.projects[i], opened.uri, opened)
	return none{}, nil
}

func (s *server) didChange(_ context.Context, p changeParams) (none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k, d := s.find(p.TextDocument.URI); d != nil {
		s.replace(k, d.uri, d.change(p.TextDocument.Version, p.ContentChanges, s.units))
	}
	return none{}, nil
}

func (s *server) didClose(_ context.Context, p documentParams) (none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k, d := s.find(p.TextDocument.URI); d != nil {
		s.replace(k, d.uri, nil)
	}
	return none{}, nil
}

// didSave looks at the whole project again: its other files may have changed too.
func (s *server) didSave(_ context.Context, p documentParams) (none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k, d := s.find(p.TextDocument.URI); d != nil {
		s.markDirty(k)
	}
	return none{}, nil
}

func (s *server) filesChanged(context.Context, none) (none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.projects {
		s.markDirty(k)
	}
	return none{}, nil
}

// find returns the open document with a URI and its project, or nil.
func (s *server) find(uri string) (*project, *document) {
	for _, k := range s.projects {
		for _, d := range k.documents {
			if d.uri == uri {
				return k, d
			}
		}
	}
	return nil, nil
}

// replace replaces the document with that URI, or removes it if there is no new
// one.
func (s *server) replace(k *project, uri string, with *document) {
	i := slices.IndexFunc(k.documents, func(d *document) bool { return d.uri == uri })
	switch {
	case with == nil:
		k.documents = slices.Delete(k.documents, i, i+1)
	case i < 0:
		k.documents = append(k.documents, with)
	default:
		k.documents[i] = with
	}
	s.markDirty(k)
}

func (s *server) markDirty(k *project) {
	k.isDirty = true
	select {
	case s.changed <- struct{}{}:
	default: // one is waiting already
	}
}
