package answer_test

import (
	"encoding/binary"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/sql/release"
)

// BenchmarkPage writes a page of 20 posts, as for each request to a list.
func BenchmarkPage(b *testing.B) {
	member := func(name string, kind release.MemberType) release.Member {
		return release.Member{Name: name, Column: name, Type: kind}
	}
	id, at := member("id", release.TextMember), member("createdAt", release.TimestampMember)
	a := &release.Action{Name: "listPosts", Kind: release.List, Record: "Post", Order: []release.SortKey{{Member: at, Descending: true}, {Member: id}}}
	m := &release.Manifest{Actions: []*release.Action{a}, Records: map[string][]release.Member{"Post": {
		id, member("title", release.TextMember), member("body", release.TextMember), member("status", release.TextMember),
		member("score", release.DecimalMember), member("authorId", release.TextMember), member("publishedAt", release.TimestampMember), at,
		member("updatedAt", release.TimestampMember),
	}}}
	plan := answer.NewPlan(m, a, 5<<20)
	var rows [][][]byte
	for i := range 21 {
		moment := binary.BigEndian.AppendUint64(nil, uint64((time.Duration(i) * 7919 * time.Hour).Microseconds()))
		key := []byte("2fWZJ4mCN8yfVtHTgWcD" + strconv.Itoa(10+i))
		rows = append(rows, [][]byte{
			key, []byte("title " + strconv.Itoa(i)), []byte(strings.Repeat("text ", 20)), []byte("Live"), []byte("4"), key, moment, moment, moment,
		})
	}
	var memory []byte
	b.ReportAllocs()
	for b.Loop() {
		into := plan.Begin(answer.Page{Size: 20}, memory[:0])
		for _, row := range rows {
			into.Row(row)
		}
		memory = into.JSON()
	}
}

// BenchmarkPosition reads a cursor with a value of each type, as for each page behind another.
func BenchmarkPosition(b *testing.B) {
	plan, cursor := cursorPlan(), encodeCursor(cursorMark+positionWith("", ""))
	b.ReportAllocs()
	for b.Loop() {
		if _, isCursor := plan.Position(answer.Page{Cursor: cursor, HasCursor: true}); !isCursor {
			b.Fatal("it is not read as a cursor")
		}
	}
}
