package answer

import (
	"fmt"
	"strconv"
	"strings"
)

// Batch makes several calls of one statement as one: of a function for each row of its parameters. A function sets all that
// it reads of its call, so that no call sees anything of the one before. Custom code has no batches.
type Batch struct {
	statement Statement
	answers   []*Answer
}

// Call is a call of a batch.
type Call struct {
	Answer     *Answer
	Parameters [][]byte
}

// NewBatch makes a batch of calls whose answers have the same statement, and its parameters.
func NewBatch(calls []Call) (*Batch, [][]byte) {
	first := calls[0].Answer
	b := &Batch{}
	arrays := make([][]byte, len(first.plan.types))
	for i, c := range calls {
		b.answers = append(b.answers, c.Answer)
		for k, value := range c.Parameters {
			arrays[k] = appendElement(arrays[k], i == 0, value)
		}
	}
	for k := range arrays {
		arrays[k] = append(arrays[k], '}')
	}
	b.statement = batched(first.statement, first.plan.types)
	return b, arrays
}

// batched is the statement that makes the calls of a batch.
func batched(s *Statement, types []string) Statement {
	sql := s.SQL
	var lists, names []string
	for i := len(types); i > 0; i-- { // $1 begins $10
		sql = strings.ReplaceAll(sql, "$"+strconv.Itoa(i), fmt.Sprintf("v_batch.v_%d", i))
	}
	for i, t := range types {
		lists, names = append(lists, fmt.Sprintf("$%d::%s[]", i+1, t)), append(names, fmt.Sprintf("v_%d", i+1))
	}
	all := Statement{Name: s.Name + "_batch", SQL: "select v_batch.v_place, v_call.* from unnest(" + strings.Join(lists, ", ") + ") with ordinality as v_batch (" +
		strings.Join(names, ", ") + ", v_place) cross join lateral (" + sql + "\n) as v_call"}
	if len(s.Formats) > 0 {
		all.Formats = append([]int16{0}, s.Formats...)
	}
	return all
}

// appendElement appends an element to the text of an array.
func appendElement(array []byte, isFirst bool, value []byte) []byte {
	separator := byte(',')
	if isFirst {
		separator = '{'
	}
	array = append(array, separator)
	if value == nil {
		return append(array, "NULL"...)
	}
	array = append(array, '"')
	for _, c := range value {
		if c == '"' || c == '\\' {
			array = append(array, '\\')
		}
		array = append(array, c)
	}
	return append(array, '"')
}

// Statement returns the statement that makes the calls.
func (b *Batch) Statement() *Statement { return &b.statement }

// Restart discards the rows so far.
func (b *Batch) Restart() {
	for _, a := range b.answers {
		a.Restart()
	}
}

// Row takes a row of one of the calls.
func (b *Batch) Row(values [][]byte) (more bool) {
	place, err := strconv.Atoi(string(values[0]))
	if err == nil && 1 <= place && place <= len(b.answers) {
		b.answers[place-1].Row(values[1:])
	}
	return true
}

// Again is always false: a call that must be repeated is repeated by itself.
func (b *Batch) Again() bool { return false }
