package input

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		literal   string
		want      string
		isInteger bool
		isDecimal bool
	}{
		{"0", "0", true, true},
		{"-0", "0", true, true},
		{"-0.000e-5", "0", true, true},
		{"0e100", "0", true, true},
		{"5", "5", true, true},
		{"5.0", "5", true, true},
		{"5e0", "5", true, true},
		{"50e-1", "5", true, true},
		{"-120", "-120", true, true},
		{"1.50", "1.5", false, true},
		{"0.05", "0.05", false, true},
		{"-0.5e-1", "-0.05", false, true},
		{"1.5E+3", "1500", true, true},
		{"1234.5678e2", "123456.78", false, true},
		{"1234.5678e-6", "0.0012345678", false, true},
		{"1e-18", "0.000000000000000001", false, true},
		{"1e-19", "0.0000000000000000001", false, false},
		{"1.00000000000000000000", "1", true, true},
		{"1e37", "1" + strings.Repeat("0", 37), true, true},
		{"1e38", "1" + strings.Repeat("0", 38), true, false},
		{"12345678901234567890.123456789012345678", "12345678901234567890.123456789012345678", false, true},
		{"123456789012345678901.123456789012345678", "123456789012345678901.123456789012345678", false, false},
		{strings.Repeat("9", 38), strings.Repeat("9", 38), true, true},
		{"000.1"[2:], "0.1", false, true},
	} {
		n := parseNumber([]byte(c.literal), nil)
		if got := string(n.appendTo(nil)); got != c.want {
			t.Errorf("number %s: got %s, want %s", c.literal, got, c.want)
		}
		if got := n.isInteger(); got != c.isInteger {
			t.Errorf("number %s: is an integer: got %t, want %t", c.literal, got, c.isInteger)
		}
		if got := n.isDecimal(); got != c.isDecimal {
			t.Errorf("number %s: is a decimal: got %t, want %t", c.literal, got, c.isDecimal)
		}
	}
}

func TestNumbersAgreeWithRationals(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	literal := func() string {
		text := ""
		if random.IntN(2) == 0 {
			text = "-"
		}
		text += big.NewInt(random.Int64N(2000)).String()
		if random.IntN(2) == 0 {
			text += "." + strings.Repeat("0", random.IntN(3)) + big.NewInt(random.Int64N(200)).String()
		}
		if random.IntN(2) == 0 {
			text += "e" + big.NewInt(random.Int64N(9)-4).String()
		}
		return text
	}
	for range 20000 {
		x, y := literal(), literal()
		a, b := parseNumber([]byte(x), nil), parseNumber([]byte(y), nil)
		p, _ := new(big.Rat).SetString(x)
		q, _ := new(big.Rat).SetString(y)
		if got, want := a.compare(b), p.Cmp(q); got != want {
			t.Fatalf("compare %s with %s: got %d, want %d", x, y, got, want)
		}
		if got, want := a.isInteger(), p.IsInt(); got != want {
			t.Fatalf("number %s: is an integer: got %t, want %t", x, got, want)
		}
		written, ok := new(big.Rat).SetString(string(a.appendTo(nil)))
		if !ok || written.Cmp(p) != 0 {
			t.Fatalf("number %s: wrote %s, another value", x, a.appendTo(nil))
		}
	}
}
