package syntax

import "strings"

// Suggest returns the candidate that name was probably meant to be, "" if none
// is near. Case does not count; of equally near ones the first is taken.
func Suggest(name string, candidates []string) string {
	best, bestDistance := "", 0
	for _, c := range candidates {
		if c == name {
			continue
		}
		d := editDistance([]rune(strings.ToLower(name)), []rune(strings.ToLower(c)))
		if d <= tolerance(name, c) && (best == "" || d < bestDistance) {
			best, bestDistance = c, d
		}
	}
	return best
}

// tolerance is the number of slips at which two names still look alike: one
// third of the shorter, at least one, but of names of one or two letters none.
func tolerance(a, b string) int {
	n := min(len([]rune(a)), len([]rune(b)))
	if n <= 2 {
		return 0
	}
	return max(1, n/3)
}

// editDistance counts the letters to insert, drop, replace or swap with their
// neighbour in order to make b of a.
func editDistance(a, b []rune) int {
	before, last, current := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			current[j] = min(replace, last[j]+1, current[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, last, current = last, current, before
	}
	return last[len(b)]
}
