package request

import (
	"errors"
	"io"
	"net"

	"github.com/valyala/fasthttp"

	"github.com/sternpost/sternpost/server/refusal"
)

// WhyUnreadable says what is wrong with a request, for the log. What fasthttp says of it
// quotes it, and it may hold a token.
func WhyUnreadable(err error) string {
	var small *fasthttp.ErrSmallBuffer
	switch {
	case errors.As(err, &small):
		return "its header is too long"
	case isTimeout(err):
		return "it took too long to arrive"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it ended early"
	}
	return "it is malformed"
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// UnreadableRequest is how a request is refused that cannot be read at all.
func UnreadableRequest(cause error) *refusal.Refusal {
	r := refusal.InputMalformed.With(cause).Saying("the input could not be read: not a valid HTTP request")
	r.Close = true
	return r
}
