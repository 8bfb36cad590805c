package docs

import (
	"regexp"
	"strings"
	"testing"
)

// TestDiagram draws each model once, below those that it leads to, and each relation, also in cycles.
func TestDiagram(t *testing.T) {
	t.Parallel()
	models := []string{"Line", "Invoice", "Customer", "Person", "Left", "Right", "A<b>"}
	links := []link{
		{"Line", "Invoice", "invoice_id"}, {"Invoice", "Customer", "customer_id"}, {"Line", "Customer", "customer_id"},
		{"Person", "Person", "parent_id"}, {"Left", "Right", "right_id"}, {"Right", "Left", "left_id"},
	}
	svg := string(diagram(models, links, func(m string) string { return "docs/model/" + m }))
	if got := strings.Count(svg, "<rect "); got != len(models) {
		t.Errorf("%d boxes", got)
	}
	if got := strings.Count(svg, `class="link"`); got != len(links) {
		t.Errorf("%d lines", got)
	}
	if !strings.Contains(svg, `<a href="docs/model/Line">`) || !strings.Contains(svg, "<title>Line.invoice_id → Invoice</title>") || !strings.Contains(svg, ">A&lt;b&gt;</text>") {
		t.Errorf("the diagram is %s", svg)
	}
	height := func(model string) string {
		found := regexp.MustCompile(`model/` + model + `"><rect x="\d+" y="(\d+)"`).FindStringSubmatch(svg)
		if found == nil {
			t.Fatalf("%s has no box in %s", model, svg)
		}
		return found[1]
	}
	if c, i, l := height("Customer"), height("Invoice"), height("Line"); c != "1" || i != "77" || l != "153" {
		t.Errorf("Customer, Invoice and Line are at %s, %s and %s", c, i, l)
	}
}
