// Package integration tests the whole product as a user does: it compiles a schema and
// installs it into a database of its own, the real server serves it, and requests go
// over a socket. Most tests are in testdata, as literal requests and responses.
package integration

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/sternpost/sternpost/integration/canary"
	"github.com/sternpost/sternpost/integration/pgtest"
)

// watch looks at every response and log for passwords and secrets.
var watch canary.Watch

func TestMain(m *testing.M) {
	http.DefaultClient.Transport = watch.Transport(http.DefaultTransport)
	code := pgtest.MainInContainer(m)
	if commandDir != "" {
		os.RemoveAll(commandDir)
	}
	fmt.Printf("%d responses were compared with the description of their API\n", described.Load())
	os.Exit(watch.Exit(os.Stdout, code))
}
