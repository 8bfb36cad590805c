// Package mcp speaks the Model Context Protocol with agents: it reads a message, asks a Host, and writes the answer. It
// keeps nothing between messages, so that any server can answer the next one. Tools are the actions of an API as an agent
// sees them.
//
// It speaks two revisions. A message of the newer one carries everything that is known of its client; a client of the
// older one begins with a handshake. Messages come by HTTP or, one a line, over standard input.
package mcp
