package server

import (
	"errors"

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
func (k *call) prepare() error {
	if !k.needsPreparing() {
		return nil
	}
	s, a := k.server, k.action
	byPath, sent := files.Of(a.Action, k.in)
	k.in = k.in.WithoutContents() // a large request must not be in memory twice
	open := hideTexts(a, k.in)
	places := placesOf(open, byPath)

	k.prepared.input = fill(open, places)
	if err := k.replay(); err != nil {
		return err
	}
	decided, err := k.decideEarly(k.prepared.input, k.prepared.context)
	if isOfRow(err) { // errors of the files are answered before it
		if faults := s.files.Check(a.Action, k.identity, sent); faults != nil {
			return faults
		}
	}
	if err != nil {
		return err
	}
	if decided == refused {
		return &refusal.PermissionDenied
	}

	for i := range places {
		if p := &places[i]; p.file == nil && !p.IsFound() {
			if p.value, err = s.seal(k.http, p.Format, p.Text(), "the input "+p.Path); err != nil {
				return err
			}
		}
	}
	context, err := s.sealTexts(a, k.http, k.in, k.prepared.context)
	if err != nil {
		return err
	}
	stored, err := s.files.Keep(k.http, a.Action, k.identity, sent)
	if err != nil {
		return err
	}
	for i := range places {
		if p := &places[i]; p.file != nil {
			p.value = p.file.Value()
		}
	}
	k.prepared = prepared{fill(open, places), files.Attaching(context, sent), stored}
	return nil
}

// needsPreparing tells whether an input has files, passwords or secrets, or the action makes some from texts.
func (k *call) needsPreparing() bool { return len(k.in.Places()) > 0 || len(k.action.sealed) > 0 }

// isOfRow tells whether a call was refused for its row: the row does not exist, or the
// rules do not admit it.
func isOfRow(err error) bool {
	var r *refusal.Refusal
	return errors.As(err, &r) && (r.Code == refusal.RecordNotFound.Code || r.Code == refusal.PermissionDenied.Code)
}
