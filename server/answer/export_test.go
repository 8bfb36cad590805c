package answer

// What the tests of this package look at.
var FormatsOf = formatsOf

// Types is how many types of members there are.
func Types() int { return len(writers) }
