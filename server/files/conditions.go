package files

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/sternpost/sternpost/server/request"
)

// conditions are what a request for a file says about which version of it, and which part,
// it wants (RFC 9110, sections 13 and 14). Empty means that it says nothing.
type conditions struct {
	match, noneMatch, modifiedSince, unmodifiedSince string
	ranges, ifRange                                  string
}

func conditionsOf(in *fasthttp.RequestHeader) conditions {
	c := conditions{
		match: string(in.Peek("If-Match")), noneMatch: string(in.Peek("If-None-Match")),
		modifiedSince: string(in.Peek("If-Modified-Since")), unmodifiedSince: string(in.Peek("If-Unmodified-Since")),
	}
	if in.IsGet() { // for HEAD there are no ranges
		c.ranges, c.ifRange = string(in.Peek("Range")), string(in.Peek("If-Range"))
	}
	return c
}

// asked is the answer to a request for a file: its status, and the part to be sent with 200
// and 206.
type asked struct {
	status       int
	from, length int64
}

// judge says what is answered for a file with that strong entity tag. Several ranges at once
// are as good as none, which a server may take them for: they cost far more than they ask.
func (c conditions) judge(etag string, changed time.Time, size int64) asked {
	changed = changed.Truncate(time.Second)
	switch {
	case c.match != "" && !namesTag(c.match, etag),
		c.match == "" && isAfter(changed, c.unmodifiedSince):
		return asked{status: http.StatusPreconditionFailed}
	case c.noneMatch != "" && request.IsKnown(c.noneMatch, etag),
		c.noneMatch == "" && isNotAfter(changed, c.modifiedSince):
		return asked{status: http.StatusNotModified}
	}
	whole := asked{http.StatusOK, 0, size}
	if c.ifRange != "" && c.ifRange != etag && !isDate(c.ifRange, changed) {
		return whole
	}
	from, length, isRange := readRange(c.ranges, size)
	switch {
	case !isRange:
		return whole
	case length == 0:
		return asked{status: http.StatusRequestedRangeNotSatisfiable}
	}
	return asked{http.StatusPartialContent, from, length}
}

// readRange reads a single range of bytes. Its length is 0 if none of it is in the file. What
// is not one range of bytes is to be ignored.
func readRange(header string, size int64) (from, length int64, ok bool) {
	unit, text, _ := strings.Cut(header, "=")
	first, last, isRange := strings.Cut(strings.TrimSpace(text), "-")
	if !strings.EqualFold(strings.TrimSpace(unit), "bytes") || !isRange {
		return 0, 0, false
	}
	if first == "" { // the last so many bytes
		n, ok := readOffset(last)
		n = min(n, size)
		return size - n, n, ok
	}
	from, ok = readOffset(first)
	end := size - 1
	if last != "" && ok {
		if end, ok = readOffset(last); end < from {
			return 0, 0, false
		}
		end = min(end, size-1)
	}
	return from, max(end-from+1, 0), ok
}

// readOffset reads digits. More than fit mean a place behind the end of every file.
func readOffset(text string) (n int64, ok bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, _ = strconv.ParseInt(text, 10, 63) // of more than fit, the most that do
	return n, true
}

// namesTag tells whether an If-Match names an entity tag. They are compared strongly.
func namesTag(header, etag string) bool {
	if strings.TrimSpace(header) == "*" {
		return true
	}
	for tag := range strings.SplitSeq(header, ",") { // ours has no comma
		if strings.TrimSpace(tag) == etag {
			return true
		}
	}
	return false
}

// What a date in a header says of the moment of a change. What is not a date says nothing.

func isAfter(changed time.Time, header string) bool {
	date, err := http.ParseTime(header)
	return err == nil && changed.After(date)
}

func isNotAfter(changed time.Time, header string) bool {
	date, err := http.ParseTime(header)
	return err == nil && !changed.After(date)
}

func isDate(header string, changed time.Time) bool {
	date, err := http.ParseTime(header)
	return err == nil && changed.Equal(date)
}
