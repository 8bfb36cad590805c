package model

import "testing"

func TestSnakeFormAndVariable(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, snake, variable string }{
		{"OrderItem", "order_item", "orderItem"},
		{"HTTPServer", "http_server", "httpServer"},
		{"OAuthToken", "o_auth_token", "oAuthToken"},
		{"URL", "url", "url"},
		{"B2B", "b_2_b", "b2B"},
		{"HTML5", "html_5", "html5"},
		{"A", "a", "a"},
		{"AB", "ab", "ab"},
		{"Ab", "ab", "ab"},
		{"ABc", "a_bc", "aBc"},
		{"userID", "user_id", "userID"},
		{"userIDs", "user_i_ds", "userIDs"},
		{"t2", "t_2", "t2"},
		{"line2Address", "line_2_address", "line2Address"},
		{"a1b2", "a_1_b_2", "a1b2"},
		{"sha256Hash", "sha_256_hash", "sha256Hash"},
		{"createdAT", "created_at", "createdAT"},
		{"", "", ""},
	}
	for _, test := range tests {
		if got := SnakeForm(test.name); got != test.snake {
			t.Errorf("SnakeForm(%q) = %q, want %q", test.name, got, test.snake)
		}
		if got := Variable(test.name); got != test.variable {
			t.Errorf("Variable(%q) = %q, want %q", test.name, got, test.variable)
		}
	}
}

func TestFlatName(t *testing.T) {
	t.Parallel()
	tests := []struct {
		steps []string
		want  string
	}{
		{[]string{"title"}, "title"},
		{[]string{"author", "email"}, "authorEmail"},
		{[]string{"p", "t"}, "pT"},
		{[]string{"items", "product", "skuURL"}, "itemsProductSkuURL"},
		{nil, ""},
	}
	for _, test := range tests {
		if got := FlatName(test.steps); got != test.want {
			t.Errorf("FlatName(%q) = %q, want %q", test.steps, got, test.want)
		}
	}
}
