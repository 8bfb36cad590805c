// Package signin tests logging in through providers: the real server, a real database,
// providers that follow OpenID Connect and some that do not, and third-party clients.
package signin

import (
	"net/http"
	"os"
	"testing"

	leaks "github.com/sternpost/sternpost/integration/canary"
	"github.com/sternpost/sternpost/integration/pgtest"
)

// watch looks at every response and log for passwords and secrets.
var watch leaks.Watch

func TestMain(m *testing.M) {
	http.DefaultClient.Transport = watch.Transport(http.DefaultTransport)
	os.Exit(watch.Exit(os.Stdout, pgtest.Main(m)))
}
