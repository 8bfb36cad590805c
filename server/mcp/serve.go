package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Serve answers messages, one a line, until there are no more.
func (h *Host) Serve(in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			m, _, response, failure := h.handle(line, nil)
			if failure != nil {
				response = m.failed(&fault{code: internalError, message: failure.Error()})
			}
			if response != nil {
				if _, err := out.Write(append(response, '\n')); err != nil {
					return fmt.Errorf("answer a message: %w", err)
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a message: %w", err)
		}
	}
}
