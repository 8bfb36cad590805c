package request

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/sternpost/sternpost/server/listener"
)

// thereInterval is how often the server checks whether a waiting client is still there.
const thereInterval = 100 * time.Millisecond

// WhileThere returns a context that ends, because of errClientLeft, when a client has
// left. stop must be called before the handler returns: after that the connection may
// be another request's.
func WhileThere(ctx context.Context, client net.Conn) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(thereInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if listener.HasLeft(client) {
					cancel(ErrClientLeft)
				}
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-ended
	}
}

// ErrClientLeft is the cause if a statement was cancelled, or not sent, because its
// client has left.
var ErrClientLeft = errors.New("the client has left")
