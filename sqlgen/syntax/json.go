package syntax

import "encoding/json"

// The JSON form of diagnostics, for editors and scripts.
type (
	jsonDiagnostic struct {
		File     string     `json:"file,omitempty"`
		Range    *jsonRange `json:"range,omitempty"`
		Code     Code       `json:"code"`
		Message  string     `json:"message"`
		Severity string     `json:"severity"`
		Notes    []jsonNote `json:"notes"`
	}
	jsonNote struct {
		File    string     `json:"file,omitempty"`
		Range   *jsonRange `json:"range,omitempty"`
		Message string     `json:"message"`
	}
	jsonRange struct {
		Start jsonPos `json:"start"`
		End   jsonPos `json:"end"`
	}
	jsonPos struct {
		Line   int `json:"line"`
		Column int `json:"column"`
	}
)

// MarshalJSON returns an array with one object for each diagnostic, in the
// order given:
//
//	{
//	  "file": "blog.stern",
//	  "range": {"start": {"line": 14, "column": 17}, "end": {"line": 14, "column": 22}},
//	  "code": "UnknownField",
//	  "message": "model Post has no field \"titel\"",
//	  "severity": "error",
//	  "notes": [{"file": "blog.stern", "range": {…}, "message": "…"}]
//	}
//
// Lines and columns count from 1, columns in characters; a range ends before
// its end. Without a place, file and range are left out. The severity is error
// or warning.
func (errs Errors) MarshalJSON() ([]byte, error) {
	list := make([]jsonDiagnostic, len(errs))
	for i, d := range errs {
		severity := "error"
		if d.Warning {
			severity = "warning"
		}
		notes := make([]jsonNote, len(d.Notes))
		for i, n := range d.Notes {
			notes[i] = jsonNote{File: n.Span.fileName(), Range: rangeOf(n.Span), Message: n.Message}
		}
		list[i] = jsonDiagnostic{
			File:     d.Span.fileName(),
			Range:    rangeOf(d.Span),
			Code:     d.Code,
			Message:  d.Message,
			Severity: severity,
			Notes:    notes,
		}
	}
	return json.Marshal(list)
}

// rangeOf returns the range of a span, nil if it is not a place in a file.
func rangeOf(s Span) *jsonRange {
	if s.File == nil || s.Start.Line == 0 {
		return nil
	}
	return &jsonRange{
		Start: jsonPos{s.Start.Line, s.Start.Column},
		End:   jsonPos{s.End.Line, s.End.Column},
	}
}
