// Package answer defines the calls of database functions, and writes their results as the
// JSON of the response.
//
// A function with a record as result returns the row. The release has the names and types
// of the columns, in the order of the wire. A Record is compiled from them once, and
// writes a row in one pass over its columns. The JSON is byte for byte what row_to_json
// would make of the row with Timestamps, Durations and Decimals in the form of the wire.
package answer

import (
	"encoding/binary"
	"strconv"

	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/release"
)

// Record writes rows of one kind.
type Record struct {
	columns []column
}

// column is a column of the rows.
type column struct {
	key    []byte // the text before the value: a comma but for the first, the name, a colon
	append func(out, value []byte) []byte
}

// NewRecord compiles a record of these members.
func NewRecord(members []release.Member) *Record {
	r := &Record{columns: make([]column, len(members))}
	for i, m := range members {
		key := []byte{','}
		if i == 0 {
			key = []byte{'{'}
		}
		r.columns[i] = column{key: append(input.AppendText(key, []byte(m.Name)), ':'), append: writerOf(m).append}
	}
	return r
}

// Append appends the JSON of a row. The values are in the formats from formatsOf; nil is
// null.
func (r *Record) Append(out []byte, values [][]byte) []byte {
	for i := range r.columns {
		c := &r.columns[i]
		out = append(out, c.key...)
		if values[i] == nil {
			out = append(out, "null"...)
			continue
		}
		out = c.append(out, values[i])
	}
	return append(out, '}')
}

// writer writes the values of a type.
type writer struct {
	isBinary bool
	append   func(out, value []byte) []byte
}

// writers has a row for every type of a member. Moments and dates arrive in binary: as
// text they would depend on settings of the session.
var writers = map[release.MemberType]writer{
	release.TextMember:      {append: input.AppendText},
	release.NumberMember:    {append: appendNumber},
	release.DecimalMember:   {append: appendDecimal},
	release.BooleanMember:   {append: appendBoolean},
	release.TimestampMember: {isBinary: true, append: appendTimestamp},
	release.DateMember:      {isBinary: true, append: appendDate},
	release.DurationMember:  {isBinary: true, append: appendDuration},
	release.RealMember:      {append: appendNumber},
	release.JSONMember:      {append: appendJSON},
}

func writerOf(m release.Member) writer {
	w, known := writers[m.Type]
	if !known {
		panic("answer: there is no type " + string(m.Type))
	}
	switch {
	case !m.Array:
		return w
	case w.isBinary:
		return writer{isBinary: true, append: func(out, value []byte) []byte { return appendBinaryArray(out, value, w.append) }}
	}
	return writer{append: func(out, value []byte) []byte {
		out, _ = appendTextArray(out, value, w.append)
		return out
	}}
}

func appendJSON(out, value []byte) []byte { return append(out, value...) }

func appendBoolean(out, value []byte) []byte {
	return strconv.AppendBool(out, value[0] == 't')
}

// appendNumber writes a number unchanged. A value such as NaN becomes a string.
func appendNumber(out, value []byte) []byte {
	if last := value[len(value)-1]; last < '0' || last > '9' {
		return input.AppendText(out, value)
	}
	return append(out, value...)
}

// appendDecimal writes a number without trailing zeros.
func appendDecimal(out, value []byte) []byte {
	for i, c := range value {
		if c != '.' {
			continue
		}
		end := len(value)
		for value[end-1] == '0' {
			end--
		}
		if end == i+1 {
			end = i
		}
		value = value[:end]
		break
	}
	return appendNumber(out, value)
}

// appendTextArray writes an array in text form, and returns the rest of value (Postgres
// 15, chapter 8.15.6).
func appendTextArray(out, value []byte, element func(out, value []byte) []byte) (written, rest []byte) {
	for value[0] != '{' { // unusual bounds are before it
		value = value[1:]
	}
	out, value = append(out, '['), value[1:]
	for first := true; value[0] != '}'; first = false {
		if !first {
			out, value = append(out, ','), value[1:]
		}
		switch value[0] {
		case '{':
			out, value = appendTextArray(out, value, element)
		case '"':
			var text []byte
			text, value = unquoted(value)
			out = element(out, text)
		default:
			end := 0
			for value[end] != ',' && value[end] != '}' {
				end++
			}
			if text := value[:end]; string(text) == "NULL" {
				out = append(out, "null"...)
			} else {
				out = element(out, text)
			}
			value = value[end:]
		}
	}
	return append(out, ']'), value[1:]
}

// unquoted reads a quoted element of an array and returns the rest.
func unquoted(value []byte) (text, rest []byte) {
	isPlain := true
	for i := 1; ; i++ {
		switch value[i] {
		case '\\':
			if isPlain {
				text, isPlain = append(text, value[1:i]...), false
			}
			i++
			text = append(text, value[i])
		case '"':
			if isPlain {
				text = value[1:i]
			}
			return text, value[i+1:]
		default:
			if !isPlain {
				text = append(text, value[i])
			}
		}
	}
}

// appendBinaryArray writes an array in binary form: dimensions, flags, the type of
// elements, length and lower bound of each dimension, then each element after its length
// (array_send).
func appendBinaryArray(out, value []byte, element func(out, value []byte) []byte) []byte {
	next := func() int {
		n := int32(binary.BigEndian.Uint32(value))
		value = value[4:]
		return int(n)
	}
	lengths := make([]int, next())
	value = value[8:]
	for i := range lengths {
		lengths[i] = next()
		value = value[4:]
	}
	if len(lengths) == 0 {
		return append(out, '[', ']')
	}
	var write func(lengths []int)
	write = func(lengths []int) {
		out = append(out, '[')
		for i := range lengths[0] {
			if i > 0 {
				out = append(out, ',')
			}
			if len(lengths) > 1 {
				write(lengths[1:])
			} else if size := next(); size < 0 {
				out = append(out, "null"...)
			} else {
				out = element(out, value[:size])
				value = value[size:]
			}
		}
		out = append(out, ']')
	}
	write(lengths)
	return out
}
