package request

import (
	"testing"

	"github.com/valyala/fasthttp"
)

// TestGive gives a small answer its memory back, and keeps none of a large one once it has been sent.
func TestGive(t *testing.T) {
	t.Parallel()
	var r Request
	var response fasthttp.Response
	for _, size := range []int{10, 1 << 20, 20, 30} {
		r.Give(make([]byte, size), &response)
		if got := len(response.Body()); got != size {
			t.Errorf("the body has %d bytes, want %d", got, size)
		}
		if kept := cap(response.SwapBody(nil)); kept > keptAnswer || cap(r.Result) > keptAnswer {
			t.Errorf("of %d bytes the response keeps %d, and the request %d", size, kept, cap(r.Result))
		}
	}
}
