package openapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sternpost/sternpost/server/files"
	"github.com/sternpost/sternpost/sql/release"
)

const (
	uploadResponseName = "UploadResponse"
	filesTag           = "files"
)

var uploadResponse = release.ObjectOf(release.Properties{}.
	With("key", release.Typed("string").Described("The value for the action's input.")).
	With("url", release.Typed("string").Described("The address for the PUT of the bytes.")).
	With("headers", release.Typed("object").With("additionalProperties", release.Typed("string")).Described("The required headers of the PUT.")).
	With("expiresAt", moment("The time at which the key expires.")).
	With("urlExpiresAt", moment("The time at which the URL expires."))).
	Requiring("key", "url", "headers", "expiresAt", "urlExpiresAt")

func moment(description string) *release.JSONSchema {
	return release.Typed("string").With("format", "date-time").Described(description)
}

// upload describes the upload route of one input.
func (d *describer) upload(a *release.Action, f *release.FileInput) *operation {
	d.roots = append(d.roots, files.UploadRequestName, uploadResponseName)
	d.uploads = true
	return &operation{
		OperationID: d.uploadName(a, f),
		Tags:        []string{a.Model},
		Summary:     "Announce a file for " + a.Name,
		Description: uploadText(a, f),
		RequestBody: &requestBody{Required: true, Content: jsonContent(release.RefTo(files.UploadRequestName))},
		Responses:   d.outcomes("The key and the address of the upload.", nil, release.RefTo(uploadResponseName), append(slices.Clone(everyStatus), 404, 429)),
		Security:    security(a.AnonymousUploads),
	}
}

// uploadName is the name of the operation.
func (d *describer) uploadName(a *release.Action, f *release.FileInput) string {
	field := []rune(f.Name)
	field[0] = unicode.ToUpper(field[0])
	return d.operationName(a.Name + "Upload" + string(field))
}

// put describes where the bytes of a file go. Its address is known when it is announced.
func (d *describer) put() (string, pathItem) {
	d.tags = append(d.tags, tag{Name: filesTag, Description: "Uploads of files, before the calls that take them."})
	var responses members[any]
	responses.add("200", response{Description: "Storage has the file. The action accepts the key now."})
	responses.add("default", response{Description: "Storage refuses the file: its type or length differs from the announced one, or the address has expired."})
	return "/{url}", pathItem{Put: &operation{
		OperationID: d.operationName("putUpload"),
		Tags:        []string{filesTag},
		Summary:     "Send the bytes of a file",
		Description: "Sends the bytes of a file to the url of an UploadResponse, with exactly its headers. " +
			"The url is the complete address, usually on another host: it replaces server and path, and must not be encoded again.",
		Parameters:  []any{parameter{Name: "url", In: "path", Required: true, Description: "The url of an UploadResponse.", Schema: release.Typed("string")}},
		RequestBody: &requestBody{Required: true, Content: members[mediaType]{{"*/*", mediaType{release.Anything()}}}},
		Responses:   responses,
		Security:    []map[string][]string{},
	}}
}

// operationName is the name of an operation that is not an action, which no action may have as well.
func (d *describer) operationName(name string) string {
	for d.manifest.Action(name) != nil {
		name += "_"
	}
	return name
}

// uploadText says what the input demands of a file.
func uploadText(a *release.Action, f *release.FileInput) string {
	return fmt.Sprintf("Announces a file for the input %s of %s: %s", f.Name, a.Name, bounds(f))
}

// UploadBounds says what an input demands of a file, for people.
func UploadBounds(f *release.FileInput) string {
	return f.Name + ": " + bounds(f)
}

func bounds(f *release.FileInput) string {
	text := "at most " + strconv.FormatInt(f.MaxSize, 10) + " bytes"
	if len(f.Accepts) > 0 {
		text += ", of type " + strings.Join(f.Accepts, " or ")
	}
	return text + "."
}
