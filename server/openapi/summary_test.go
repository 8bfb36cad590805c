package openapi

import "testing"

func TestSummary(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, doc, want string }{
		{"createRepairOrder", "", "Create repair order"},
		{"fetchURLOfPage", "", "Fetch URL of page"},
		{"showPDF", "", "Show PDF"},
		{"bill", "", "Bill"},
		{"top10Customers", "", "Top10 customers"},
		{"bill", "The costs of an order.", "The costs of an order"},
		{"takeIn", "Somebody new brings a bicycle: all\nof it at once. It takes a minute.\n\nOr two.", "Somebody new brings a bicycle: all of it at once"},
	} {
		if got := Summary(c.name, c.doc); got != c.want {
			t.Errorf("%s, %q: got %q, want %q", c.name, c.doc, got, c.want)
		}
	}
}
