package server

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/files"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/server/refusal"
)

// prepared is a call whose input has the form that the database holds.
type prepared struct {
	input   []byte
	context []byte      // with the uploads that the call attaches, and the values made from texts
	stored  *files.Kept // discarded if the call fails; nil for none
}

// place is a place of an input with its contents: first the contents for the rules, then
// those for the database.
type place struct {
	input.Place
	file  *files.Sent // nil unless the place holds a file
	value []byte
}

// emptyText replaces a text that is not ready yet, or not for the database. No rule can
// distinguish it from another text.
var emptyText = []byte(`""`)

// placesOf resolves the places of an input. files are those of the input, by path.
func placesOf(in input.Input, files map[string]*files.Sent) []place {
	places := make([]place, len(in.Places()))
	for i, p := range in.Places() {
		places[i] = place{p, files[p.Path], emptyText}
		if f := files[p.Path]; f != nil {
			places[i].value = f.Value()
		}
	}
	return places
}

// fill returns the input with the contents in their places.
func fill(in input.Input, places []place) []byte {
	return in.Replace(func(i int) []byte { return places[i].value })
}

// prepare stores the files of an input, hashes its passwords and encrypts its secrets,
// once nothing but the row can refuse the call. This happens before the transaction,
// which must not wait for storage or a hash. The files are removed again if the call
// fails.
func (s *Server) prepare(c *fiber.Ctx, a *action, r *served, who *caller, in input.Input, context []byte) (*prepared, error) {
	byPath, sent := files.Of(a.Action, in)
	in = in.WithoutContents() // a large request must not be in memory twice
	open := hideTexts(a, in)
	places := placesOf(open, byPath)

	decided, err := s.decideEarly(a, r, who, fill(open, places), context)
	if isOfRow(err) { // errors of the files are answered before it
		if faults := s.files.Check(a.Action, who.identity, sent); faults != nil {
			return nil, faults
		}
	}
	if err != nil {
		return nil, err
	}
	if decided == refused {
		return nil, &refusal.PermissionDenied
	}

	for i := range places {
		if p := &places[i]; p.file == nil && !p.IsFound() {
			if p.value, err = s.seal(c, p.Format, p.Text(), "the input "+p.Path); err != nil {
				return nil, err
			}
		}
	}
	if context, err = s.sealTexts(a, c, in, context); err != nil {
		return nil, err
	}
	stored, err := s.files.Keep(c, a.Action, who.identity, sent)
	if err != nil {
		return nil, err
	}
	for i := range places {
		if p := &places[i]; p.file != nil {
			p.value = p.file.Value()
		}
	}
	return &prepared{fill(open, places), files.Attaching(context, sent), stored}, nil
}

// isOfRow tells whether a call was refused for its row: the row does not exist, or the
// rules do not admit it.
func isOfRow(err error) bool {
	var r *refusal.Refusal
	return errors.As(err, &r) && (r.Status == fiber.StatusNotFound || r.Status == fiber.StatusForbidden)
}
