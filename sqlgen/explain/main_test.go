package explain_test

import (
	"os"
	"testing"

	"github.com/sternpost/sternpost/integration/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
