package expr

// Early returns the value of a @permission's expression before any row is read:
// every comparison that involves the row is unknown, unless it is false for want
// of a caller or an input. True and False are final; on Unknown, rows decide.
// The call's Row is not looked at.
func Early(call Call, rule Node) Truth {
	e := evaluator{call: call, logic: ruleLogic, rowUnknown: true}
	return e.choose([]Node{rule})
}

// EarlyWithoutInputs returns the value of a @permission's expression when only
// the caller and ctx are known, as when a file is uploaded ahead of the call.
func EarlyWithoutInputs(call Call, rule Node) Truth {
	e := evaluator{call: call, logic: ruleLogic, rowUnknown: true, inputsUnknown: true}
	return e.choose([]Node{rule})
}
