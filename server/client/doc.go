// Package client writes programs that call an API: a manifest goes in, and the text of a file
// in TypeScript comes out. Its types are made of the very schemas that requests are checked by.
// What is the same for all of them is in the folder runtime, as TypeScript that is checked
// by itself.
package client
