package server

import (
	"log/slog"

	"github.com/sternpost/sternpost/integration/program"
)

// logBuffer keeps a log that is written concurrently. What is written is searched for secrets.
type logBuffer struct{ program.Output }

func (l *logBuffer) Write(p []byte) (int, error) {
	watch.Look("the log", string(p))
	return l.Output.Write(p)
}

func discardLog() *slog.Logger {
	return slog.New(slog.DiscardHandler)
}
