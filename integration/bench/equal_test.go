package bench

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestEqualAnswers shows that the servers that are compared give the same answers, so that none does less than the others.
func TestEqualAnswers(t *testing.T) {
	t.Parallel()
	newStage(t, (deepPage+1)*pageSize).expectEqualAnswers(t)
}

// expectEqualAnswers sends the requests of each comparison with the server written by hand to Sternpost and to both forms
// of that server.
func (s *stage) expectEqualAnswers(t testing.TB) {
	t.Helper()
	for _, c := range comparisons(s.data, s.tokens, cursorOf(t, s.sternpost)) {
		if c.other != hand {
			continue
		}
		for n := range int64(12) {
			want := s.sternpost.records(t, c.ours(n))
			for _, form := range hand.forms() {
				if got := s.peers[form].records(t, c.theirs(n)); !reflect.DeepEqual(got, want) {
					t.Errorf("%s, %s:\n got %v\nwant %v", c.name, peerNames[form], got, want)
				}
			}
		}
	}
}

// records returns what a request answers, without what differs each time and without cursors.
func (p *process) records(t testing.TB, c call) map[string]any {
	t.Helper()
	status, body, err := p.post(c.action, c.token, c.body)
	var answer map[string]any
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	if err != nil || status != 200 {
		t.Fatalf("%s %s: got status %d, %s, %v", c.action, c.body, status, body, err)
	}
	switch {
	case strings.HasPrefix(c.action, "create"):
		delete(answer, "id")
		delete(answer, "createdAt")
		delete(answer, "updatedAt")
	case strings.HasPrefix(c.action, "update"):
		delete(answer, "updatedAt")
	case strings.HasPrefix(c.action, "list"):
		page := answer["pageInfo"].(map[string]any)
		maps.DeleteFunc(page, func(name string, _ any) bool { return name != "hasNextPage" })
		if rows := answer["results"].([]any); len(rows) < pageSize || slices.Contains(rows, nil) {
			t.Fatalf("%s %s: got %d rows", c.action, c.body, len(rows))
		}
	}
	return answer
}
