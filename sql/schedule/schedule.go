// Package schedule says when jobs run by themselves. It reads the five fields of cron and the
// forms that are spoken, and knows the meaning of hours that a clock leaves out or has twice.
package schedule

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule is a sequence of slots: minutes on the clock of a zone.
type Schedule struct {
	fields *cron.SpecSchedule
	zone   *time.Location
}

// The errors of Parse, beside those about fields of cron.
var (
	ErrZone  = errors.New("it is no time zone of the IANA, such as Europe/Berlin")
	ErrNever = errors.New("no day is such a day")
)

// Parse reads a schedule for the clock of a zone; an empty zone is UTC.
func Parse(text, zone string) (*Schedule, error) {
	location, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		return nil, ErrZone
	}
	written, err := asCron(strings.TrimSpace(text))
	if err != nil {
		return nil, err
	}
	parsed, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(written)
	if err != nil {
		return nil, err
	}
	s := &Schedule{fields: parsed.(*cron.SpecSchedule), zone: location}
	if s.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, ErrNever
	}
	return s, nil
}

var (
	atTimes   = regexp.MustCompile(`^every ([a-z, ]+) at ([0-9apm:, ]+(?: and [0-9apm:]+)?)$`)
	atPeriods = regexp.MustCompile(`^every (?:([0-9]+) )?(minute|hour)s?(?: from ([0-9:apm]+) to ([0-9:apm]+))?$`)
	clockTime = regexp.MustCompile(`^(1[0-2]|[1-9])(?::([0-5][0-9]))?(am|pm)$`)
	separator = regexp.MustCompile(`,\s*|\s+and\s+`)
)

// asCron writes a spoken form as the five fields of cron. Other texts are those fields already.
func asCron(text string) (string, error) {
	if !strings.HasPrefix(text, "every ") {
		if strings.HasPrefix(text, "@") || strings.Contains(text, "=") {
			return "", fmt.Errorf("%q is neither five fields of cron nor a form such as every day at 9am", text)
		}
		return text, nil
	}
	if m := atPeriods.FindStringSubmatch(text); m != nil {
		return everyPeriod(m[1], m[2], m[3], m[4])
	}
	m := atTimes.FindStringSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("%q is no form such as every 10 minutes, every day at 9am or every monday and friday at 9am", text)
	}
	days, err := daysOfWeek(m[1])
	if err != nil {
		return "", err
	}
	var hours []string
	minute := -1
	for _, written := range separator.Split(m[2], -1) {
		h, min, err := clock(written)
		if err != nil {
			return "", err
		}
		if minute >= 0 && minute != min {
			return "", errors.New("the times of one schedule have the same minute: write a schedule for each")
		}
		minute, hours = min, append(hours, strconv.Itoa(h))
	}
	return fmt.Sprintf("%d %s * * %s", minute, strings.Join(hours, ","), days), nil
}

// everyPeriod is every few minutes or hours, also within some hours of the day only.
func everyPeriod(count, unit, from, to string) (string, error) {
	n, whole := 1, map[string]int{"minute": 60, "hour": 24}[unit]
	if count != "" {
		n, _ = strconv.Atoi(count)
	}
	if n < 1 || n > whole || whole%n != 0 {
		return "", fmt.Errorf("%d %ss are no even part of %d: the times between two runs would differ", n, unit, whole)
	}
	hours := "0-23"
	if from != "" {
		first, minute, err := clock(from)
		if err != nil {
			return "", err
		}
		last, alsoMinute, err := clock(to)
		if err != nil {
			return "", err
		}
		if minute+alsoMinute > 0 || first >= last {
			return "", errors.New("from and to are whole hours of one day, the earlier first")
		}
		hours = fmt.Sprintf("%d-%d", first, last)
		if unit == "minute" {
			hours = fmt.Sprintf("%d-%d", first, last-1)
		}
	}
	if unit == "hour" {
		return fmt.Sprintf("0 %s/%d * * *", hours, n), nil
	}
	return fmt.Sprintf("*/%d %s * * *", n, hours), nil
}

// clock reads a time such as 9am or 9:30pm.
func clock(text string) (hour, minute int, err error) {
	m := clockTime.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return 0, 0, fmt.Errorf("%q is no time such as 9am or 9:30pm", text)
	}
	hour, _ = strconv.Atoi(m[1])
	minute, _ = strconv.Atoi(m[2])
	hour %= 12
	if m[3] == "pm" {
		hour += 12
	}
	return hour, minute, nil
}

var days = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

func daysOfWeek(text string) (string, error) {
	switch text {
	case "day":
		return "*", nil
	case "weekday":
		return "1-5", nil
	}
	var numbers []string
	for _, name := range separator.Split(text, -1) {
		i := slices.Index(days, strings.TrimSpace(name))
		if i < 0 {
			return "", fmt.Errorf("%q is neither day, weekday nor a day of the week", name)
		}
		numbers = append(numbers, strconv.Itoa(i))
	}
	return strings.Join(numbers, ","), nil
}

// Next returns the first slot after a moment, the zero time if there is none within nine years.
//
// A slot whose minute the clock leaves out is at the first minute after it. One whose minute comes
// twice is at the first of both.
func (s *Schedule) Next(after time.Time) time.Time {
	in := after.In(s.zone)
	label := time.Date(in.Year(), in.Month(), in.Day(), in.Hour(), in.Minute(), 0, 0, time.UTC)
	for end := label.AddDate(9, 0, 0); label.Before(end); {
		switch {
		case s.fields.Month&(1<<uint(label.Month())) == 0:
			label = time.Date(label.Year(), label.Month()+1, 1, 0, 0, 0, 0, time.UTC)
		case !s.isDay(label):
			label = time.Date(label.Year(), label.Month(), label.Day()+1, 0, 0, 0, 0, time.UTC)
		case s.fields.Hour&(1<<uint(label.Hour())) == 0:
			label = label.Truncate(time.Hour).Add(time.Hour)
		case s.fields.Minute&(1<<uint(label.Minute())) == 0:
			label = label.Add(time.Minute)
		default:
			if slot := s.moment(label); slot.After(after) {
				return slot
			}
			label = label.Add(time.Minute)
		}
	}
	return time.Time{}
}

// Latest returns the last slot after one moment and up to another, the zero time if there is none.
func (s *Schedule) Latest(after, upTo time.Time) (slot time.Time) {
	for next := s.Next(after); !next.IsZero() && !next.After(upTo); next = s.Next(next) {
		slot = next
	}
	return slot
}

// isDay tells whether a day is meant: as cron has it, by either of both fields if both are given.
func (s *Schedule) isDay(label time.Time) bool {
	const star = 1 << 63
	byMonth, byWeek := s.fields.Dom&(1<<uint(label.Day())) != 0, s.fields.Dow&(1<<uint(label.Weekday())) != 0
	if s.fields.Dom&star != 0 || s.fields.Dow&star != 0 {
		return byMonth && byWeek
	}
	return byMonth || byWeek
}

// moment is when a clock first shows a minute, or the first one after it.
func (s *Schedule) moment(label time.Time) time.Time {
	shows := func(at time.Time) time.Time {
		in := at.In(s.zone)
		return time.Date(in.Year(), in.Month(), in.Day(), in.Hour(), in.Minute(), 0, 0, time.UTC)
	}
	_, before := label.Add(-24 * time.Hour).In(s.zone).Zone()
	_, behind := label.Add(24 * time.Hour).In(s.zone).Zone()
	first, second := label.Add(-time.Duration(max(before, behind))*time.Second), label.Add(-time.Duration(min(before, behind))*time.Second)
	for _, at := range []time.Time{first, second} {
		if shows(at).Equal(label) {
			return at
		}
	}
	at := first // before the gap
	for shows(at).Before(label) {
		at = at.Add(time.Minute)
	}
	return at
}
