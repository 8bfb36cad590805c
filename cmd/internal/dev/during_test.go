package dev

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// TestDuring says what takes long, on a clock that does not wait.
func TestDuring(t *testing.T) {
	for took, want := range map[time.Duration]string{
		4 * time.Second:  "",
		12 * time.Second: "still starting Postgres after 5 s\nstill starting Postgres after 10 s\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			Options{Out: &out}.during("starting Postgres", func() { time.Sleep(took) })
			if out.String() != want {
				t.Errorf("in %v it says %q, want %q", took, out.String(), want)
			}
		})
	}
}
