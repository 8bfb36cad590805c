package syntax

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Suggest returns the candidate that name was probably meant to be, "" if none
// is near. Case does not count; of equally near ones the first is taken.
func Suggest(name string, candidates []string) string {
	best, bestDistance := "", 0
	length := utf8.RuneCountInString(name)
	lower := []rune(strings.ToLower(name))
	for _, c := range candidates {
		if c == name {
			continue
		}
		candidateLength := utf8.RuneCountInString(c)
		limit := tolerance(length, candidateLength)
		if best != "" {
			limit = min(limit, bestDistance-1)
		}
		// A difference in length alone makes most candidates too distant.
		if max(length-candidateLength, candidateLength-length) > limit {
			continue
		}
		if d := editDistance(lower, []rune(strings.ToLower(c)), limit); d <= limit {
			best, bestDistance = c, d
		}
	}
	return best
}

var meant = regexp.MustCompile(`\(did you mean ("(?:[^"\\]|\\.)*")\?\)`)

// Meant returns the text that the message suggests in place of the span, "" without a
// suggestion.
func (d *Diagnostic) Meant() string {
	found := meant.FindStringSubmatch(d.Message)
	if found == nil {
		return ""
	}
	name, err := strconv.Unquote(found[1])
	if err != nil {
		return ""
	}
	return name
}

// tolerance is the number of slips at which two names of these lengths still look
// alike: one third of the shorter, at least one, but of names of one or two
// letters none.
func tolerance(a, b int) int {
	n := min(a, b)
	if n <= 2 {
		return 0
	}
	return max(1, n/3)
}

// editDistance counts the letters to insert, drop, replace or swap with their
// neighbour in order to make b of a. If there are more than limit, the result is
// some number above it.
func editDistance(a, b []rune, limit int) int {
	tooFar := limit + 1
	width := len(b) + 1
	rows := make([]int, 3*width)
	before, last, current := rows[:width], rows[width:2*width], rows[2*width:]
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		// Beginnings that differ in length by more than limit are not a way to a near
		// one, so only a band around the diagonal counts.
		from, to := max(1, i-limit), min(len(b), i+limit)
		current[0] = i
		if from > 1 {
			current[from-1] = tooFar
		}
		nearest := current[from-1]
		for j := from; j <= to; j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			current[j] = min(replace, last[j]+1, current[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
			nearest = min(nearest, current[j])
		}
		if to < len(b) {
			current[to+1] = tooFar // the next row looks at it
		}
		if nearest > limit {
			return tooFar
		}
		before, last, current = last, current, before
	}
	return last[len(b)]
}
