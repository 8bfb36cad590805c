package expr

import "github.com/sternpost/sternpost/sqlgen/syntax"

// Check checks a Boolean expression: that of a @where, @permission or @validate.
// It reports every independent error to errs and returns nil if there is any.
func Check(e syntax.Expr, scope Scope, errs *syntax.Errors) Node {
	panic("expr: Check is still being written")
}

// CheckValue checks a value and that the target takes it: the right-hand side of
// a @set in an action or arm, or the argument of @default, as the scope's place
// says. It reports every independent error to errs and returns nil if there is
// any. The result is a *Literal, *List or *Path.
//
// What a path may pass is checked here (SetManyValues, for arms ArmField, for
// @default DefaultNotConstant). Whether the value reads a row that does not exist
// yet (SetReadsNewRow) is left to the caller, who sees it from the Path.
func CheckValue(e syntax.Expr, target Target, scope Scope, errs *syntax.Errors) Node {
	panic("expr: CheckValue is still being written")
}
