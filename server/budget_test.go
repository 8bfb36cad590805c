package server

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/sternpost/sternpost/server/config"
)

// attackWithAnswers has clients that request large answers and do not read them. The memory stays below the limit for
// all answers. Beyond it, the next large one is refused, and small ones still succeed.
func attackWithAnswers(t *testing.T) {
	s, d := startReady(t, func(c *config.Config) { c.AnswersLimit = 40 << 20 })
	d.exec(t, `create or replace function api.get_note(input jsonb, context jsonb) returns text
		language plpgsql stable security definer set search_path = pg_catalog, pg_temp
		as $$ begin return to_json(repeat('x', case when input->>'id' = 'large' then 12 << 20 else 10 end)); end; $$`)
	held := s.answers.InUse

	const body = `{"id":"large"}`
	before := heap()
	var clients []*net.TCPConn
	for n := range 3 {
		client, err := net.DialTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(n+1))}, s.Addr().(*net.TCPAddr))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		clients = append(clients, client)
		fmt.Fprintf(client, "POST /api/json/getNote HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		until(t, "the large answer is held", func() bool { return held() > int64(n+1)*(12<<20-64<<10) })
	}
	until(t, "nothing else is in memory", func() bool { return heap()-before < 40<<20 })

	if status, text := s.post(t, "getNote", body); status != 503 || !strings.Contains(text, "the service is overloaded") {
		t.Errorf("another large one: got %d %.100s, want 503", status, text)
	}
	if status, text := s.post(t, "getNote", `{"id":"small"}`); status != 200 || text != `"xxxxxxxxxx"` {
		t.Errorf("a small one: got %d %.100s", status, text)
	}
	for _, client := range clients {
		go io.Copy(io.Discard, client)
		client.CloseWrite()
	}
	until(t, "all is given back", func() bool { return held() == 0 })
	if status, text := s.post(t, "getNote", body); status != 200 || len(text) != 12<<20+2 {
		t.Errorf("afterwards: got %d, %d bytes", status, len(text))
	}
}
