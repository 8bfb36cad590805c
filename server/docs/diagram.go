package docs

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// The measures of a diagram, in pixels.
const (
	boxHeight  = 30
	rowGap     = 46
	boxGap     = 24
	charWidth  = 8
	mostInARow = 6
	aside      = 100
)

// link is a to-one of a model.
type link struct{ From, To, Column string }

// box is a model in a diagram.
type box struct {
	name    string
	x, y, w int
}

// middle is where lines meet the box.
func (b box) middle() int { return b.x + b.w/2 }

// diagram draws models and the to-ones between them as SVG: each model below those that its rows lead to. Cycles are
// drawn too. address is the page of a model.
func diagram(models []string, links []link, address func(model string) string) template.HTML {
	rows := inRows(models, links)
	boxes, width := place(rows, links)
	width += aside // for the lines that go around
	var b strings.Builder
	height := len(rows)*(boxHeight+rowGap) - rowGap + 2
	fmt.Fprintf(&b, `<svg class="diagram" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="models and their relations">`, width, height, width, height)
	b.WriteString(`<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>`)
	for _, l := range links {
		from, to := boxes[l.From], boxes[l.To]
		start, end, bend := from.y, to.y+boxHeight, rowGap/2
		switch {
		case from.y == to.y: // in one row, or to itself: above the boxes
			end, bend = to.y, -rowGap/3
		case from.y < to.y: // against the order, in a cycle
			start, end, bend = from.y+boxHeight, to.y, -rowGap/2
		}
		other, around := start-bend, 0
		if from.y-to.y > boxHeight+rowGap { // around the rows between
			around = aside
		}
		if from.y == to.y {
			other = start + bend
		}
		fmt.Fprintf(&b, `<path class="link" d="M%d %d C%d %d %d %d %d %d" marker-end="url(#arrow)"><title>%s</title></path>`,
			from.middle(), start, from.middle()+around, other, to.middle()+around, end+bend, to.middle(), end,
			template.HTMLEscapeString(l.From+"."+l.Column+" → "+l.To))
	}
	for _, row := range rows {
		for _, name := range row {
			x := boxes[name]
			text := template.HTMLEscapeString(name)
			fmt.Fprintf(&b, `<a href="%s"><rect x="%d" y="%d" width="%d" height="%d" rx="5"/><text x="%d" y="%d" text-anchor="middle">%s</text></a>`,
				template.HTMLEscapeString(address(name)), x.x, x.y, x.w, boxHeight, x.middle(), x.y+boxHeight/2+5, text)
		}
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// inRows puts each model below all those that it leads to, as far as there is no cycle.
func inRows(models []string, links []link) (rows [][]string) {
	depth := map[string]int{}
	var depthOf func(model string, on []string) int
	depthOf = func(model string, on []string) int {
		if known, is := depth[model]; is {
			return known
		}
		deepest := 0
		for _, l := range links {
			if l.From == model && l.To != model && !slices.Contains(on, l.To) {
				deepest = max(deepest, depthOf(l.To, append(slices.Clone(on), model))+1)
			}
		}
		if len(on) == 0 { // in a cycle, the depth depends on where it was begun
			depth[model] = deepest
		}
		return deepest
	}
	byDepth := map[int][]string{}
	deepest := 0
	for _, m := range models {
		d := depthOf(m, nil)
		byDepth[d] = append(byDepth[d], m)
		deepest = max(deepest, d)
	}
	for d := 0; d <= deepest; d++ {
		for row := range slices.Chunk(byDepth[d], mostInARow) {
			rows = append(rows, row)
		}
	}
	return rows
}

// place gives each model its place, near those that it leads to, and returns the width of the whole.
func place(rows [][]string, links []link) (boxes map[string]box, width int) {
	boxes = map[string]box{}
	width = 1
	for _, row := range rows {
		width = max(width, widthOf(row))
	}
	for i, row := range rows {
		centre := func(model string) int {
			sum, n := 0, 0
			for _, l := range links {
				if to, isPlaced := boxes[l.To]; l.From == model && isPlaced {
					sum, n = sum+to.middle(), n+1
				}
			}
			if n == 0 {
				return width / 2
			}
			return sum / n
		}
		slices.SortStableFunc(row, func(a, b string) int { return centre(a) - centre(b) })
		x := (width-widthOf(row))/2 + 1
		for _, name := range row {
			boxes[name] = box{name, x, i*(boxHeight+rowGap) + 1, boxWidth(name)}
			x += boxWidth(name) + boxGap
		}
	}
	return boxes, width
}

func boxWidth(name string) int { return len(name)*charWidth + 24 }

func widthOf(row []string) int {
	width := -boxGap + 2
	for _, name := range row {
		width += boxWidth(name) + boxGap
	}
	return width
}
