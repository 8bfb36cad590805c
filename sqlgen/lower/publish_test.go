package lower_test

import (
	"github.com/sternpost/sternpost/sqlgen/lower"
	"github.com/sternpost/sternpost/sqlgen/publish"
)

func init() { lower.Publish = publish.Complete }
