package answer

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"
)

// epoch is the zero of Postgres' times.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// appendTimestamp writes a timestamptz, microseconds since the epoch: in UTC, with three
// decimals of a second. An infinite one is null.
func appendTimestamp(out, value []byte) []byte {
	us := int64(binary.BigEndian.Uint64(value))
	if us == math.MaxInt64 || us == math.MinInt64 {
		return append(out, "null"...)
	}
	t := time.UnixMicro(us + epoch.UnixMicro()).UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	out = appendDay(append(out, '"'), year, month, day)
	out = appendTwo(append(out, 'T'), hour)
	out = appendTwo(append(out, ':'), minute)
	out = appendTwo(append(out, ':'), second)
	ms := t.Nanosecond() / 1e6
	out = append(out, '.', byte('0'+ms/100))
	return append(appendTwo(out, ms%100), 'Z', '"')
}

// appendDate writes a date, days since the epoch.
func appendDate(out, value []byte) []byte {
	days := int32(binary.BigEndian.Uint32(value))
	switch days {
	case math.MaxInt32:
		return append(out, `"infinity"`...)
	case math.MinInt32:
		return append(out, `"-infinity"`...)
	}
	year, month, day := epoch.AddDate(0, 0, int(days)).Date()
	out = appendDay(append(out, '"'), year, month, day)
	if year <= 0 {
		out = append(out, " BC"...)
	}
	return append(out, '"')
}

// appendDay writes a day. The year before 1 is 1 BC.
func appendDay(out []byte, year int, month time.Month, day int) []byte {
	if year <= 0 {
		year = 1 - year
	}
	if year > 9999 {
		out = strconv.AppendInt(out, int64(year), 10)
	} else {
		out = appendTwo(appendTwo(out, year/100), year%100)
	}
	out = appendTwo(append(out, '-'), int(month))
	return appendTwo(append(out, '-'), day)
}

func appendTwo(out []byte, n int) []byte {
	return append(out, byte('0'+n/10), byte('0'+n%10))
}

// appendDuration writes an interval, microseconds with days and months, in Postgres' own
// form of ISO 8601: months carried into years, seconds into minutes and hours.
func appendDuration(out, value []byte) []byte {
	us := int64(binary.BigEndian.Uint64(value))
	days := int32(binary.BigEndian.Uint32(value[8:]))
	months := int32(binary.BigEndian.Uint32(value[12:]))
	if us == 0 && days == 0 && months == 0 {
		return append(out, `"PT0S"`...)
	}
	part := func(n int64, unit byte) {
		if n != 0 {
			out = append(strconv.AppendInt(out, n, 10), unit)
		}
	}
	out = append(out, '"', 'P')
	part(int64(months/12), 'Y')
	part(int64(months%12), 'M')
	part(int64(days), 'D')
	if us != 0 {
		out = append(out, 'T')
	}
	const second = 1_000_000
	part(us/(3600*second), 'H')
	part(us/(60*second)%60, 'M')
	if rest := us % (60 * second); rest != 0 {
		if rest < 0 {
			out, rest = append(out, '-'), -rest
		}
		out = strconv.AppendInt(out, rest/second, 10)
		out = appendFraction(out, rest%second)
		out = append(out, 'S')
	}
	return append(out, '"')
}

// appendFraction writes millionths after a point, without trailing zeros.
func appendFraction(out []byte, millionths int64) []byte {
	if millionths == 0 {
		return out
	}
	out = append(out, '.')
	for unit := int64(100_000); millionths > 0; unit /= 10 {
		out = append(out, byte('0'+millionths/unit))
		millionths %= unit
	}
	return out
}
