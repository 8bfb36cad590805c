// Package signin tests signing in through providers: the real server, a real
// database, providers that follow OpenID Connect and some that do not, and clients
// that other people have written.
package signin

import (
	"os"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
)

func TestMain(m *testing.M) {
	os.Exit(pgtest.Main(m))
}
