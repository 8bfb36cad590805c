package expr

import (
	"strings"
	"testing"
)

func TestLiteralsTakeTheTypeOfTheOtherSide(t *testing.T) {
	t.Parallel()
	schema := newTestSchema()
	tests := []struct {
		text string
		typ  Type // of the literal, or of the first element of the list, on the right
		want any
	}{
		{`order.number == "x"`, Type{Kind: Text}, "x"},
		{`order.note == "x"`, Type{Kind: Markdown}, "x"},
		{`order.id == "x"`, Type{Kind: ID}, "x"},
		{`order.customer == "x"`, Type{Kind: ID}, "x"},
		{`"y" == "x"`, Type{Kind: Text}, "x"},
		{`null == "x"`, Type{Kind: Text}, "x"},
		{`order.due == "2027-03-01"`, Type{Kind: Date}, "2027-03-01"},
		{`order.at < "2027-03-01T09:00:00+02:00"`, Type{Kind: Timestamp}, "2027-03-01T07:00:00.000Z"},
		{`order.lasts != "PT90M"`, Type{Kind: Duration}, "PT1H30M"},
		{`order.count == 12`, Type{Kind: Number}, "12"},
		{`order.count == -12`, Type{Kind: Number}, "-12"},
		{`order.count == 1.50`, Type{Kind: Decimal}, "1.50"},
		{`order.price == 12`, Type{Kind: Decimal}, "12"},
		{`order.rush == true`, Type{Kind: Boolean}, true},
		{`order.state == State.Open`, Type{Kind: Enum, Name: "State"}, "Open"},
		{`order.state == null`, Type{Kind: NullKind}, nil},
		{`order.at in ["2027-03-01T09:00:00Z"]`, Type{Kind: Timestamp}, "2027-03-01T09:00:00.000Z"},
		{`order.costs == [1, 2.5]`, Type{Kind: Decimal}, "1"},
		{`order.days == ["2027-03-01"]`, Type{Kind: Date}, "2027-03-01"},
		{`inID in ["x"]`, Type{Kind: ID}, "x"},
	}
	for _, test := range tests {
		right := check(t, schema.at(Where), test.text).(*Compare).Right
		if list, ok := right.(*List); ok {
			element := test.typ
			element.Array = true
			if list.typ != element {
				t.Errorf("%s: list is of type %s, want %s", test.text, list.typ, element)
			}
			right = list.Elements[0]
		}
		l := right.(*Literal)
		if l.Type() != test.typ || l.Value != test.want {
			t.Errorf("%s: got %s %v, want %s %v", test.text, l.Type(), l.Value, test.typ, test.want)
		}
	}
	for text, want := range map[string]Kind{
		`order.count in [1, 2]`:                           Number,
		`order.count in [1, 1.5, 2]`:                      Decimal,
		`order.nums == [inNumber, inDecimal]`:             Decimal,
		`order.due in ["2027-03-01", ctx.now]`:            Timestamp,
		`order.price in [1, inNumber]`:                    Decimal,
		`order.customer in [inID, ctx.identity.customer]`: Model,
	} {
		if list := check(t, schema.at(Where), text).(*Compare).Right; list.Type().Kind != want {
			t.Errorf("%s: list is of type %s, want an array of %s", text, list.Type(), want)
		}
	}
	left := check(t, schema.at(Where), `"2027-03-01" in [inDate]`).(*Compare).Left.(*Literal)
	if left.Type() != (Type{Kind: Date}) {
		t.Errorf("a text literal in a list of dates is of type %s, want Date", left.Type())
	}
	empty := check(t, schema.at(Where), `order.tags == []`).(*Compare).Right
	if empty.Type() != (Type{Kind: AnyList}) {
		t.Errorf("an empty list is of type %s, want []", empty.Type())
	}
}

func TestParseISO(t *testing.T) {
	t.Parallel()
	tests := []struct {
		kind       Kind
		text, want string // an empty want means that the text is refused
	}{
		{Date, "2027-03-01", "2027-03-01"},
		{Date, "0001-01-01", "0001-01-01"},
		{Date, "9999-12-31", "9999-12-31"},
		{Date, "2028-02-29", "2028-02-29"},
		{Date, "2027-02-29", ""},
		{Date, "0000-01-01", ""},
		{Date, "2027-3-1", ""},
		{Date, "20270301", ""},
		{Date, "2027-03-01 ", ""},
		{Date, "+2027-03-01", ""},
		{Date, "2027-03-01T00:00:00Z", ""},
		{Date, "", ""},
		{Timestamp, "2027-03-01T09:00:00Z", "2027-03-01T09:00:00.000Z"},
		{Timestamp, "2027-03-01T09:00:00.5Z", "2027-03-01T09:00:00.500Z"},
		{Timestamp, "2027-03-01T09:00:00.125-05:30", "2027-03-01T14:30:00.125Z"},
		{Timestamp, "2027-03-01T00:30:00+01:00", "2027-02-28T23:30:00.000Z"},
		{Timestamp, "2027-03-01T09:00:00", ""},
		{Timestamp, "2027-03-01T09:00:00.1234Z", ""},
		{Timestamp, "2027-03-01T09:00:00.Z", ""},
		{Timestamp, "2027-03-01T09:00:00,5Z", ""},
		{Timestamp, "2027-03-01T09:00Z", ""},
		{Timestamp, "2027-03-01 09:00:00Z", ""},
		{Timestamp, "2027-03-01T24:00:00Z", ""},
		{Timestamp, "2027-03-01T09:00:60Z", ""},
		{Timestamp, "2027-03-01T09:00:00+0100", ""},
		{Timestamp, "2027-03-01t09:00:00z", ""},
		{Timestamp, "2027-02-30T09:00:00Z", ""},
		{Timestamp, "0001-01-01T00:00:00+01:00", ""},
		{Timestamp, "9999-12-31T23:00:00-05:00", ""},
		{Timestamp, "2027-03-01", ""},
		{Duration, "P1DT2H30M", "P1DT2H30M"},
		{Duration, "PT90M", "PT1H30M"},
		{Duration, "PT3600S", "PT1H"},
		{Duration, "P1W", "P7D"},
		{Duration, "P14M", "P1Y2M"},
		{Duration, "P1Y2M3W4DT5H6M7.125S", "P1Y2M25DT5H6M7.125S"},
		{Duration, "PT0S", "PT0S"},
		{Duration, "P0D", "PT0S"},
		{Duration, "P-1D", "P-1D"},
		{Duration, "PT-90M", "PT-1H-30M"},
		{Duration, "PT-0.5S", "PT-0.5S"},
		{Duration, "PT1H-30M", "PT30M"},
		{Duration, "P1MT1M", "P1MT1M"},
		{Duration, "PT2.5H", "PT2H30M"},
		{Duration, "PT-2.5H", "PT-2H-30M"},
		{Duration, "PT0.000001H", "PT0.0036S"},
		{Duration, "P0.5D", "PT12H"},
		{Duration, "P-1.25D", "P-1DT-6H"},
		{Duration, "P1.5W", "P10DT12H"},
		{Duration, "P0.25Y", "P3M"},
		{Duration, "P2.0M", "P2M"},
		{Duration, "P1.5M", ""},
		{Duration, "P0.1Y", ""},
		{Duration, "P1.0DT1H", ""},
		{Duration, "PT1.5H1M", ""},
		{Duration, "PT0.000001S", "PT0.000001S"},
		{Duration, "P99999999Y", "P99999999Y"},
		{Duration, "PT99999999H", "PT99999999H"},
		{Duration, "P100000000D", ""},
		{Duration, "PT0.0000001S", ""},
		{Duration, "PT0.5H", "PT30M"},
		{Duration, "P0.0D", "PT0S"},
		{Duration, "PT.5S", ""},
		{Duration, "PT1.S", ""},
		{Duration, "P", ""},
		{Duration, "PT", ""},
		{Duration, "P1DT", ""},
		{Duration, "P1D2Y", ""},
		{Duration, "P1D1D", ""},
		{Duration, "P1H", ""},
		{Duration, "PT1D", ""},
		{Duration, "PT1HT1M", ""},
		{Duration, "-P1D", ""},
		{Duration, "P--1D", ""},
		{Duration, "P1", ""},
		{Duration, "1D", ""},
		{Duration, "", ""},
	}
	for _, test := range tests {
		got, ok := kinds[test.kind].read(test.text)
		if got != test.want || ok != (test.want != "") {
			t.Errorf("%s %q: got %q, %t; want %q", test.kind, test.text, got, ok, test.want)
		}
		if again, ok := kinds[test.kind].read(got); got != "" && (again != got || !ok) {
			t.Errorf("%s %q: normalised twice it becomes %q", test.kind, got, again)
		}
	}
}

func TestNumberRanges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text              string
		isNumber, decimal bool
	}{
		{"0", true, true},
		{"-0", true, true},
		{"9007199254740991", true, true},
		{"-9007199254740991", true, true},
		{"9007199254740992", false, true},
		{strings.Repeat("9", 38), false, true},
		{"1" + strings.Repeat("0", 38), false, false},
		{"0." + strings.Repeat("0", 17) + "1", false, true},
		{"0." + strings.Repeat("0", 18) + "1", false, false},
		{strings.Repeat("9", 20) + "." + strings.Repeat("9", 18), false, true},
		{strings.Repeat("9", 21) + "." + strings.Repeat("9", 18), false, false},
		{"1e37", false, true},
		{"1e38", false, false},
		{"1E+3", false, true},
		{"1.5e-3", false, true},
		{"1e-18", false, true},
		{"1e-19", false, false},
		{"10e-19", false, true},
		{"0e1000", false, true},
		{"0e99999999999999999999", false, false},
		{"0." + strings.Repeat("0", 1000), false, false},
		{"1e99999999999999999999", false, false},
		{"1e-99999999999999999999", false, false},
		{"1." + strings.Repeat("0", 50), false, true},
	}
	for _, test := range tests {
		if got := isNumber(test.text); got != test.isNumber {
			t.Errorf("%s: is a Number is %t, want %t", test.text, got, test.isNumber)
		}
		if got := isDecimal(test.text); got != test.decimal {
			t.Errorf("%s: is a Decimal is %t, want %t", test.text, got, test.decimal)
		}
	}
}
