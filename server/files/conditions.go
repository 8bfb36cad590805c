package files

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/sternpost/sternpost/server/request"
)

// conditions are the conditions of a request for a version and a part of a file (RFC 9110,
// sections 13 and 14). Empty means no condition.
type conditions struct {
	match, noneMatch, modifiedSince, unmodifiedSince string
	ranges, ifRange                                  string
}

func conditionsOf(in *fasthttp.RequestHeader) conditions {
	c := conditions{
		match: string(in.Peek("If-Match")), noneMatch: string(in.Peek("If-None-Match")),
		modifiedSince: string(in.Peek("If-Modified-Since")), unmodifiedSince: string(in.Peek("If-Unmodified-Since")),
	}
	if in.IsGet() { // HEAD has no ranges
		c.ranges, c.ifRange = string(in.Peek("Range")), string(in.Peek("If-Range"))
	}
	return c
}

// asked is the answer to a request for a file: its status, and the part to send with 200
// and 206.
type asked struct {
	status       int
	from, length int64
}

// judge decides the answer for a file with that strong entity tag. Several ranges at once
// are ignored, as RFC 9110 allows: they cost far more than a request.
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

// readRange reads a single range of bytes. Its length is 0 if it lies outside the file.
// Ignore a header that is not a single range of bytes.
func readRange(header string, size int64) (from, length int64, ok bool) {
	unit, text, _ := strings.Cut(header, "=")
	first, last, isRange := strings.Cut(strings.TrimSpace(text), "-")
	if !strings.EqualFold(strings.TrimSpace(unit), "bytes") || !isRange {
		return 0, 0, false
	}
	if first == "" { // the last n bytes
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

// readOffset reads digits. An overflow means a position beyond the end of every file.
func readOffset(text string) (n int64, ok bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, _ = strconv.ParseInt(text, 10, 63) // an overflow returns the maximum
	return n, true
}

// namesTag tells whether an If-Match names an entity tag, by strong comparison.
func namesTag(header, etag string) bool {
	if strings.TrimSpace(header) == "*" {
		return true
	}
	for tag := range strings.SplitSeq(header, ",") { // our tags have no comma
		if strings.TrimSpace(tag) == etag {
			return true
		}
	}
	return false
}

// These compare a date in a header with the time of a change. An invalid date is ignored.

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
