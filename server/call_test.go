package server

import "testing"

func TestCall(t *testing.T) {
	t.Parallel()
	s, _ := startReady(t, nil)
	tests := []struct {
		action, body string
		status       int
		want         string
	}{
		{"getNote", `{"id":"n1"}`, 200, `{"id":"n1","title":"Knots","slug":"knots"}`},
		{"getNote", `{"id":"none"}`, 200, `null`},
		{"updateNote", `{"where":{"id":"none"},"values":{"title":"a"}}`, 404, `{"code":"ERR_RECORD_NOT_FOUND","message":"record not found"}`},
		{"listNotes", ``, 200, `{"form":"general"}`},
		{"listNotes", `{"where":{"title":{"equals":"a"}}}`, 200, `{"form":"title.equals"}`},
		{"listNotes", `{"where":{"title":{"equals":"a"}},"first":2,"after":"x"}`, 200, `{"form":"title.equals"}`},
		{"listNotes", `{"where":{"title":{"equals":"a"}},"limit":2}`, 200, `{"form":"general"}`},
		{"listNotes", `{"where":{"title":{"contains":"a"}}}`, 200, `{"form":"general"}`},
	}
	for _, test := range tests {
		status, got := s.post(t, test.action, test.body)
		if status != test.status || got != test.want {
			t.Errorf("%s %s\n got %d %s\nwant %d %s", test.action, test.body, status, got, test.status, test.want)
		}
	}
}
