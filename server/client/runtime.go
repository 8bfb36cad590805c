package client

import (
	"embed"
	"regexp"
	"strings"
)

//go:embed runtime/*.ts
var runtimeFiles embed.FS

// runtimeOrder lists the files of the runtime in the best order for reading.
var runtimeOrder = []string{"problems.ts", "errors.ts", "requests.ts", "calls.ts", "files.ts", "signin.ts", "passkeys.ts", "sha256.ts", "surroundings.ts"}

// between matches the lines that import and export between files of the runtime.
var between = regexp.MustCompile(`(?m)^(import [^;]*|export \{[^}]*\});\n+`)

// runtime returns the runtime as one text.
func runtime() string {
	var parts []string
	for _, name := range runtimeOrder {
		text, err := runtimeFiles.ReadFile("runtime/" + name)
		if err != nil {
			panic("client: " + err.Error()) // it is embedded
		}
		parts = append(parts, strings.TrimRight(between.ReplaceAllString(string(text), ""), "\n"))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

var (
	comment = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	word    = regexp.MustCompile(`\b[A-Z]\w*`)
)

// runtimeWords are the upper-case words in the runtime, its own names or those of the language:
// a type of the same name would hide them.
func runtimeWords() map[string]bool {
	words := map[string]bool{}
	for _, w := range word.FindAllString(comment.ReplaceAllString(runtime(), ""), -1) {
		words[w] = true
	}
	return words
}
