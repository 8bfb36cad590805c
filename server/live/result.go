package live

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"hash/maphash"
	"strconv"

	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/sql/release"
)

// result is what is sent of an answer: the whole of it, or to those who have the one before what has changed.
type result struct {
	version string
	whole   []byte // nil if it is only known that it has this version
	before  string // the version that change leads on from; empty means none
	change  []byte // members of an event, each after a comma
	refused []byte // the body of a refusal; nil means that there is an answer
}

// record is a record of a list, as far as it is kept.
type record struct {
	id     string
	digest uint64
}

// versionOf is the version of an answer, or of a refusal.
func versionOf(body []byte) string {
	sum := sha256.Sum256(body)
	return base64.RawURLEncoding.EncodeToString(sum[:15])
}

func problemOf(r *refusal.Refusal) *result {
	body := r.Envelope()
	return &result{version: "!" + versionOf(body), refused: body} // no client has such a version
}

// compare keeps what is needed of an answer, and returns what is new in it.
func (c *class) compare(body []byte) *result {
	r := &result{version: versionOf(body), whole: body}
	if r.version == c.version {
		return r
	}
	r.before, c.version = c.version, r.version
	a := c.query.Action
	if a.Record == "" || a.Custom || c.query.Finish != nil {
		r.before = ""
		return r
	}
	if a.Kind == release.Get {
		r.change = append([]byte(`,"record":`), body...)
		return r
	}
	var page struct {
		Results    []json.RawMessage
		PageInfo   json.RawMessage
		ResultInfo json.RawMessage
	}
	if json.Unmarshal(body, &page) != nil {
		r.before, c.records = "", nil
		return r
	}
	known := make(map[string]uint64, len(c.records))
	for _, old := range c.records {
		known[old.id] = old.digest
	}
	records := make([]record, len(page.Results))
	ids, changed := []byte(`,"ids":[`), []byte(`],"changed":[`)
	for i, text := range page.Results {
		records[i] = record{idOf(text), maphash.Bytes(seed, text)}
		if i > 0 {
			ids = append(ids, ',')
		}
		ids = answer.Quote(ids, records[i].id)
		if digest, isKnown := known[records[i].id]; !isKnown || digest != records[i].digest {
			if changed[len(changed)-1] != '[' {
				changed = append(changed, ',')
			}
			changed = append(changed, text...)
		}
	}
	r.change = append(append(ids, changed...), ']')
	info := [2]uint64{maphash.Bytes(seed, page.PageInfo), maphash.Bytes(seed, page.ResultInfo)}
	if info[0] != c.info[0] {
		r.change = append(append(r.change, `,"pageInfo":`...), page.PageInfo...)
	}
	if info[1] != c.info[1] && page.ResultInfo != nil {
		r.change = append(append(r.change, `,"resultInfo":`...), page.ResultInfo...)
	}
	c.records, c.info = records, info
	return r
}

// idOf is the id of a record, its first member.
func idOf(text []byte) string {
	var row struct{ ID string }
	_ = json.Unmarshal(text, &row)
	return row.ID
}

// news is a result that a subscription is sent.
type news struct {
	sub     *subscription
	result  *result
	version string // that the client has
	isNew   bool   // nothing was sent yet
}

// event appends what is sent; nothing if the client has it.
func (n news) event(out []byte) []byte {
	r, index := n.result, n.sub.index
	switch {
	case n.version == r.version && n.isNew:
		return append(strconv.AppendInt(append(out, "event: same\ndata: {\"query\":"...), int64(index), 10), "}\n\n"...)
	case n.version == r.version:
		return out
	case r.refused != nil:
		return problem(out, index, r.refused)
	case r.before != "" && n.version == r.before && !n.isNew && len(r.change) <= len(r.whole):
		return append(append(header(out, "change", index, r.version), r.change...), "}\n\n"...)
	}
	body := r.whole
	if finish := n.sub.query.Finish; finish != nil {
		var err error
		if body, err = finish(body); err != nil {
			return problem(out, index, n.sub.query.Refuse(err).Envelope())
		}
	}
	out = append(header(out, "result", index, r.version), `,"result":`...)
	return append(append(out, body...), "}\n\n"...)
}

func problem(out []byte, query int, refused []byte) []byte {
	out = strconv.AppendInt(append(out, "event: error\ndata: {\"query\":"...), int64(query), 10)
	return append(append(append(out, ','), bytes.TrimPrefix(refused, []byte{'{'})...), "\n\n"...)
}

func header(out []byte, event string, query int, version string) []byte {
	out = append(append(append(out, "event: "...), event...), "\ndata: {\"query\":"...)
	out = strconv.AppendInt(out, int64(query), 10)
	out = append(append(out, `,"version":"`...), version...)
	return append(out, '"')
}
