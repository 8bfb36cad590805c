package explain_test

import (
	"flag"
	"os"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
)

var update = flag.Bool("update", false, "rewrite the want sections of testdata; review them like code")

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
