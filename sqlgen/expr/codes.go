package expr

import "github.com/sternpost/sternpost/sqlgen/syntax"

// The codes that this package reports. Each is shown by an attribute that breaks
// the rule, of model Order or union Event of the tests.
const (
	// UnknownName: a path begins with nothing that can be named where it is.
	//
	//	@where(oder.number == "1")
	UnknownName syntax.Code = "UnknownName"

	// UnknownField: a path names no field of its model, or continues past a
	// scalar.
	//
	//	@where(order.nummer == "1")
	UnknownField syntax.Code = "UnknownField"

	// UnknownEnumValue: an enum has no such value.
	//
	//	@where(order.state == State.Opn)
	UnknownEnumValue syntax.Code = "UnknownEnumValue"

	// UnknownArm: a literal names no model, or no arm, of the union.
	//
	//	@permission(expression: event.sourceArm == "paymnt", actions: [list])
	UnknownArm syntax.Code = "UnknownArm"

	// NotBoolean: the whole expression, or an operand of !, && or ||, is not
	// Boolean.
	//
	//	@where(order.number && order.rush)
	NotBoolean syntax.Code = "NotBoolean"

	// OperandTypes: the operator does not take such a pair of operands.
	//
	//	@where(order.state < State.Open)
	OperandTypes syntax.Code = "OperandTypes"

	// NestedComparison: an operand of a comparison is a comparison or a logical
	// expression.
	//
	//	@where((order.rush == true) == order.rush)
	NestedComparison syntax.Code = "NestedComparison"

	// ListElement: an element of a list is a path of the row, null, or not
	// comparable with the other side.
	//
	//	@where(order.number in ["1", null])
	ListElement syntax.Code = "ListElement"

	// WriteOnlyField: a Password or Secret is neither compared with null nor
	// assigned to its like.
	//
	//	@where(order.token == "x")
	WriteOnlyField syntax.Code = "WriteOnlyField"

	// ListInput: an implicit input of a list is named.
	//
	//	@where(order.number == filtered)
	ListInput syntax.Code = "ListInput"

	// ManyInput: an input of a create below a to-many step is named.
	//
	//	@validate(itemsWhat != "")
	ManyInput syntax.Code = "ManyInput"

	// RowInRule: a rule for read or write mentions the row.
	//
	//	@permission(expression: order.rush, actions: [read])
	RowInRule syntax.Code = "RowInRule"

	// NotOwnField: a model's @validate leads through a to-many, or the condition of an @on
	// through any relation.
	//
	//	@validate(order.items.what != "")
	NotOwnField syntax.Code = "NotOwnField"

	// BadAggregate: an aggregate is elsewhere than in @computed, or its operands do not
	// fit.
	//
	//	@where(SUM(order.items.price) > 1)
	BadAggregate syntax.Code = "BadAggregate"

	// BadFunction: there is no such function, or it does not take such operands.
	//
	//	@where(LENGTH(order.count) > 1)
	BadFunction syntax.Code = "BadFunction"

	// SecondFactorPlace: what the caller has shown to sign in is named elsewhere than in
	// rules and roles, or with what is no positive duration.
	//
	//	@where(ctx.secondFactor)
	SecondFactorPlace syntax.Code = "SecondFactorPlace"

	// ComputedType: a computed field has a type that is not computed, or its value passes
	// a to-many outside of an aggregate.
	//
	//	@computed(order.items.price)
	ComputedType syntax.Code = "ComputedType"

	// ComputedNull: a required computed field may have no value.
	//
	//	@computed(order.price / order.count)
	ComputedNull syntax.Code = "ComputedNull"

	// TypeMismatch: a target does not take a value of that type.
	//
	//	@set(order.number = 1)
	TypeMismatch syntax.Code = "TypeMismatch"

	// NullIntoRequired: null is assigned to a required target.
	//
	//	@set(order.number = null)
	NullIntoRequired syntax.Code = "NullIntoRequired"

	// BadLiteral: a text literal is not ISO 8601 of its type, or a number is out
	// of range.
	//
	//	@where(order.due == "2027-02-30")
	BadLiteral syntax.Code = "BadLiteral"

	// DefaultNotConstant: a @default is neither a literal, a list of literals,
	// nor ctx.now.
	//
	//	@default(ctx.isAuthenticated)
	DefaultNotConstant syntax.Code = "DefaultNotConstant"

	// SetManyValues: the value of a @set passes a to-many.
	//
	//	@set(order.number = order.items.what)
	SetManyValues syntax.Code = "SetManyValues"

	// ArmField: the value that an arm gives to a field of its union does not fit.
	//
	//	@set(event.title = order.price)
	ArmField syntax.Code = "ArmField"
)
