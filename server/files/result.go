package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/storage"
)

// Finish gives each file of a result a fresh url, and leaves all other bytes unchanged.
func (s *Service) Finish(result []byte, places *ResultPlaces) ([]byte, error) {
	f := &finisher{
		files:   s,
		result:  result,
		decoder: jsontext.NewDecoder(bytes.NewBuffer(result), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
		out:     make([]byte, 0, len(result)+len(result)/2),
	}
	if err := f.value(places); err != nil {
		return nil, err
	}
	return append(f.out, result[f.done:]...), nil
}

type finisher struct {
	files   *Service
	result  []byte
	decoder *jsontext.Decoder
	out     []byte
	done    int // the length of the written part of the result
}

func (f *finisher) value(p *ResultPlaces) error {
	switch kind := f.decoder.PeekKind(); {
	case kind == '{' && p.holdsFile():
		return f.file()
	case kind == '{':
		return f.object(p)
	case kind == '[' && p.element() != nil:
		return f.array(p.element())
	}
	return f.skip()
}

func (f *finisher) skip() error {
	if err := f.decoder.SkipValue(); err != nil {
		return fmt.Errorf("read a result with files: %w", err)
	}
	return nil
}

func (f *finisher) object(p *ResultPlaces) error {
	if _, err := f.decoder.ReadToken(); err != nil {
		return fmt.Errorf("read a result with files: %w", err)
	}
	for f.decoder.PeekKind() != '}' {
		name, err := f.decoder.ReadToken()
		if err != nil {
			return fmt.Errorf("read a result with files: %w", err)
		}
		if inner := p.member(name.String()); inner != nil {
			err = f.value(inner)
		} else {
			err = f.skip()
		}
		if err != nil {
			return err
		}
	}
	_, err := f.decoder.ReadToken()
	return err
}

func (f *finisher) array(element *ResultPlaces) error {
	if _, err := f.decoder.ReadToken(); err != nil {
		return fmt.Errorf("read a result with files: %w", err)
	}
	for f.decoder.PeekKind() != ']' {
		if err := f.value(element); err != nil {
			return err
		}
	}
	_, err := f.decoder.ReadToken()
	return err
}

// file writes a file with its url. A file that was never stored can only come from custom
// code.
func (f *finisher) file() error {
	raw, err := f.decoder.ReadValue()
	if err != nil {
		return fmt.Errorf("read a result with files: %w", err)
	}
	var file file
	if err := json.Unmarshal(raw, &file); err != nil {
		return fmt.Errorf("read a file of a result: %w", err)
	}
	if !isFileKey(file.Key) {
		return errors.New("a file of the result has an invalid key")
	}
	url, err := f.files.downloadURL(&file)
	if err != nil {
		return err
	}
	end := int(f.decoder.InputOffset())
	f.out = append(f.out, f.result[f.done:end-len(raw)]...)
	f.out = file.append(f.out, url)
	f.done = end
	return nil
}

// URL returns the address for the contents of a stored file, by its key.
func (s *Service) URL(key, filename, contentType string) (string, error) {
	if !s.IsConfigured() || !isFileKey(key) {
		return "", &refusal.RecordNotFound
	}
	return s.downloadURL(&file{Key: key, Filename: filename, ContentType: contentType})
}

func (s *Service) downloadURL(file *file) (string, error) {
	ctx, cancel := storageContext()
	defer cancel()
	url, err := s.Store.DownloadURL(ctx, storage.Files+file.Key, storage.Download{Filename: file.Filename, ContentType: file.ContentType})
	if err != nil {
		return "", refusal.Unavailable.With(err)
	}
	return url, nil
}
