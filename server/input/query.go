package input

import (
	"net/url"
	"strings"
)

// ReadQuery reads the query string of a GET, with one property of the input per
// parameter. The text of a string property is taken unchanged. The text of any other is
// read as JSON, and counts as a string if it is not JSON. A plus sign is a space, as in
// forms. The errors are those of Read.
func (r *Reader) ReadQuery(rawQuery string) (Input, error) {
	body := []byte{'{'}
	names := map[string]bool{}
	for parameter := range strings.SplitSeq(rawQuery, "&") {
		if parameter == "" {
			continue
		}
		rawName, rawText, _ := strings.Cut(parameter, "=")
		name, err1 := url.QueryUnescape(rawName)
		text, err2 := url.QueryUnescape(rawText)
		if err1 != nil || err2 != nil {
			return Input{}, &Malformed{Reason: brokenPercentEncode}
		}
		if names[name] {
			return Input{}, &Malformed{Reason: repeatedParameter}
		}
		names[name] = true

		if len(body) > 1 {
			body = append(body, ',')
		}
		body = AppendText(body, []byte(name))
		body = append(body, ':')
		i := r.root.find([]byte(name), 0)
		isText := i >= 0 && r.root.properties[i].node.isText()
		if !isText {
			reason := unreadable([]byte(text))
			if reason != "" && reason != notJSON {
				return Input{}, &Malformed{Reason: reason}
			}
			isText = reason == notJSON
		}
		if isText {
			body = AppendText(body, []byte(text))
		} else {
			body = append(body, text...)
		}
	}
	return r.Read(append(body, '}'))
}

// unreadable returns why a text cannot be read as JSON, or "".
func unreadable(text []byte) string {
	var w walker
	w.start(text)
	w.document(anything)
	return w.reason
}
