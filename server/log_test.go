package server

import (
	"bytes"
	"log/slog"
	"sync"
)

// logBuffer keeps a log that is written concurrently.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	watch.Look("the log", string(p))
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func discardLog() *slog.Logger {
	return slog.New(slog.DiscardHandler)
}
