package bench

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// measurePeer compares with PostGraphile 5 over the same tables, where npm can install it.
func (s *stage) measurePeer(b testing.TB, rounds int) {
	b.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			s.printf("\nPostGraphile is not measured: there is no %s here.\n", tool)
			return
		}
	}
	install := exec.Command("npm", "ci", "--no-audit", "--no-fund")
	install.Dir = "postgraphile"
	if out, err := install.CombinedOutput(); err != nil {
		s.printf("\nPostGraphile is not measured: npm ci: %v\n%s\n", err, out)
		return
	}
	serve := exec.Command("node", "serve.js")
	serve.Dir = install.Dir
	serve.Env = append(os.Environ(), "DATABASE_URL="+s.data.handURL, "NODE_ENV=production", "GRAPHILE_ENV=production")
	s.peers[postGraphile] = run(b, "PostGraphile", serve, "/graphql", call{body: `{"query":"{ __typename }"}`})

	get := comparison{name: "get", goal: 3.5, clients: usualClients, other: postGraphile, answers: `"title"`,
		ours: func(n int64) call {
			return call{action: "getPost", body: fmt.Sprintf(`{"id":%q}`, s.data.posts[n%posts])}
		},
		theirs: func(n int64) call {
			return query(`query ($id: String!) { postByRowId(rowId: $id) { `+graphFields+` } }`, fmt.Sprintf(`{"id":%q}`, s.data.posts[n%posts]))
		}}
	list := comparison{name: "list of 20, foreseen: by status", goal: 4.5, clients: usualClients, other: postGraphile, answers: `"hasNextPage":true`,
		ours: func(int64) call {
			return call{action: "listPosts", body: fmt.Sprintf(`{"where":{"status":{"equals":"Live"}},"first":%d}`, pageSize)}
		},
		theirs: func(int64) call {
			return query(`query ($status: String!) { allPosts(condition: { status: $status }, orderBy: CREATED_AT_DESC, first: 20) {
				nodes { `+graphFields+` } pageInfo { hasNextPage endCursor } } }`, `{"status":"Live"}`)
		}}
	for range 5 { // until Node.js has compiled the code that it runs often
		for _, c := range []comparison{get, list} {
			s.peers[postGraphile].load(b, s.backends, c.clients, c.theirs, c.answers)
		}
	}
	s.measure(b, "The same with PostGraphile 5 as the other server. Ratio: PostGraphile / Sternpost.", []comparison{get, list}, rounds)
}

const graphFields = `rowId title body status score authorId publishedAt createdAt updatedAt`

// query is a request of GraphQL.
func query(text, variables string) call {
	return call{body: fmt.Sprintf(`{"query":%q,"variables":%s}`, text, variables)}
}
