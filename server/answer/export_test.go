package answer

// These are internals for the tests of this package.
var FormatsOf = formatsOf

// Types is the number of member types.
func Types() int { return len(writers) }
