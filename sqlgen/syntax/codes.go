package syntax

// The codes that this package reports.
const (
	// Syntax: the text does not follow the lexis and grammar of the language.
	//
	//	model Order { fields { number } }
	Syntax Code = "Syntax"

	// BadEncoding: a file is not UTF-8, or holds U+0000.
	BadEncoding Code = "BadEncoding"

	// BadEscape: a text literal holds an escape that the language does not have.
	//
	//	role Staff { domains { "\x41.example" } }
	BadEscape Code = "BadEscape"

	// BadName: a name has not the form asked for where it is declared.
	//
	//	model order { }
	BadName Code = "BadName"

	// UnsupportedOperator: an expression uses %, ?: or indexing, or calls what is no function.
	//
	//	model Order { @validate(order.number.length() > 3) }
	UnsupportedOperator Code = "UnsupportedOperator"

	// NotSupportedYet: something belongs to a later stage of the language:
	// a flow, task or routes, an attribute such as @history.
	//
	//	flow Import { }
	NotSupportedYet Code = "NotSupportedYet"
)
