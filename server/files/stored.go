package files

import (
	"fmt"

	"github.com/sternpost/sternpost/server/answer"
)

// file is a file in the form of a column.
type file struct {
	Key         string `json:"key"`
	Filename    string `json:"filename"`
	ContentType string `json:"contentType"`
	Size        int64  `json:"size"`
}

// append writes the file as JSON, with the url if there is one.
func (f *file) append(b []byte, url string) []byte {
	b = append(b, `{"key":`...)
	b = answer.Quote(b, f.Key)
	b = append(b, `,"filename":`...)
	b = answer.Quote(b, f.Filename)
	b = append(b, `,"contentType":`...)
	b = answer.Quote(b, f.ContentType)
	b = fmt.Appendf(b, `,"size":%d`, f.Size)
	if url != "" {
		b = append(b, `,"url":`...)
		b = answer.Quote(b, url)
	}
	return append(b, '}')
}
