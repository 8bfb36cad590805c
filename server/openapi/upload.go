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
	With("key", release.Typed("string").Described("What the action takes in the file's place.")).
	With("url", release.Typed("string").Described("Where the bytes go, by PUT.")).
	With("headers", release.Typed("object").With("additionalProperties", release.Typed("string")).Described("The headers of the PUT, exactly.")).
	With("expiresAt", moment("Until when the action takes the key.")).
	With("urlExpiresAt", moment("Until when the URL takes the bytes."))).
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
		Responses:   d.outcomes("Where the file goes.", nil, release.RefTo(uploadResponseName), append(slices.Clone(everyStatus), 404, 429)),
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
	d.tags = append(d.tags, tag{Name: filesTag, Description: "Files that are sent ahead of the calls that take them."})
	var responses members[any]
	responses.add("200", response{Description: "Storage has the file. The key may be handed to the action now."})
	responses.add("default", response{Description: "Storage refuses the file: its type or length is not the one announced, or the address has expired."})
	return "/{url}", pathItem{Put: &operation{
		OperationID: d.operationName("putUpload"),
		Tags:        []string{filesTag},
		Summary:     "Send the bytes of a file",
		Description: "Sends the bytes of a file that an upload route has announced, with exactly the headers that it answered. " +
			"The address is the url that it answered, as a whole: it stands in the place of server and path, is not encoded again, " +
			"and mostly leads to another host.",
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
