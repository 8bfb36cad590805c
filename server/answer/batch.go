package answer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
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

	// With Asks, a function of schema api that takes an input and a context, the call fails with SP000 unless that returns
	// Values for Context in the same snapshot.
	Asks            string
	Context, Values []byte
}

// NewBatch makes a batch of calls whose answers have the same statement and that ask the same function, and its
// parameters.
func NewBatch(calls []Call) (*Batch, [][]byte) {
	first := calls[0].Answer
	b := &Batch{}
	types := first.plan.types
	if calls[0].Asks != "" {
		types = append(types[:len(types):len(types)], "jsonb", "jsonb")
	}
	arrays := make([][]byte, len(types))
	for i, c := range calls {
		b.answers = append(b.answers, c.Answer)
		given := c.Parameters
		if c.Asks != "" {
			given = append(given[:len(given):len(given)], c.Context, c.Values)
		}
		for k, value := range given {
			arrays[k] = appendElement(arrays[k], i == 0, value)
		}
	}
	for k := range arrays {
		arrays[k] = append(arrays[k], '}')
	}
	b.statement = batched(first.statement, types, calls[0].Asks)
	return b, arrays
}

// batched is the statement that makes the calls of a batch. What a call asks first is asked before it: the call takes a
// parameter from there.
func batched(s *Statement, types []string, asks string) Statement {
	sql := s.SQL
	var lists, names []string
	for i := len(types); i > 0; i-- { // $1 begins $10
		sql = strings.ReplaceAll(sql, "$"+strconv.Itoa(i), fmt.Sprintf("v_batch.v_%d", i))
	}
	for i, t := range types {
		lists, names = append(lists, fmt.Sprintf("$%d::%s[]", i+1, t)), append(names, fmt.Sprintf("v_%d", i+1))
	}
	given := "unnest(" + strings.Join(lists, ", ") + ") with ordinality as v_batch (" + strings.Join(names, ", ") + ", v_place)"
	if n := len(names); asks != "" {
		given = fmt.Sprintf("(select case when platform.live_same(%s, %s) then v_1 end as v_1, %s from %s offset 0) as v_batch",
			pgx.Identifier{"api", asks}.Sanitize()+"('{}', "+names[n-2]+")", names[n-1], strings.Join(append(names[1:n:n], "v_place"), ", "), given)
	}
	all := Statement{Name: s.Name + "_batch", SQL: "select v_batch.v_place, v_call.* from " + given + " cross join lateral (" + sql + "\n) as v_call"}
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
