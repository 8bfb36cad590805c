package lower_test

import (
	"github.com/sternpost/sternpost/sqlgen/lower"
	"github.com/sternpost/sternpost/sqlgen/manifest"
)

func init() { lower.Complete = manifest.Complete }
