package openapi

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/sternpost/sternpost/server/account"
	"github.com/sternpost/sternpost/server/answer"
	"github.com/sternpost/sternpost/server/input"
	"github.com/sternpost/sternpost/sql/release"
)

// Describe returns the OpenAPI 3.1 document of one API of a release, with its actions and
// the schemas that they mention. Requests are checked against the same schemas. Equal
// manifests, numbers, addresses and names of the project give equal bytes.
func Describe(m *release.Manifest, api *release.API, number int64, baseURL, project string) ([]byte, error) {
	d := describer{manifest: m, api: api, statuses: map[int]bool{}, declaresValidation: declaresValidation(m)}
	document := document{
		OpenAPI: "3.1.0",
		Info:    info{Title: api.Name, Version: strconv.FormatInt(number, 10), Description: api.Doc, Project: project},
		Servers: []serverURL{{URL: baseURL}},
	}
	for _, name := range api.Actions {
		a := m.Action(name)
		if a == nil {
			return nil, fmt.Errorf("describe the api %s: unknown action %s", api.Name, name)
		}
		d.tag(a.Model)
		path := "/" + api.Path + "/json/" + a.Name
		item := pathItem{Post: d.action(a)}
		if a.Kind == release.Start {
			item.Get = d.run(a)
		}
		document.Paths.add(path, item)
		for _, f := range a.Files {
			document.Paths.add(path+"/upload/"+f.Name, pathItem{Post: d.upload(a, &f)})
		}
	}
	d.auth(&document.Paths)
	if d.uploads {
		document.Paths.add(d.put())
	}
	schemas, err := slices.Concat(m.Schemas, ownSchemas).Reached(append(d.roots, errorSchema))
	if err != nil {
		return nil, fmt.Errorf("describe the api %s: %w", api.Name, err)
	}
	document.Tags = d.tags
	document.Components = components{
		Schemas:         schemas,
		Responses:       d.responses(),
		Parameters:      d.parameters(),
		SecuritySchemes: members[securityScheme]{{bearerScheme, bearer}},
	}
	text, err := answer.Encode(document)
	if err != nil {
		return nil, fmt.Errorf("describe the api %s: %w", api.Name, err)
	}
	return text, nil
}

// describer collects the parts for the actions of one API.
type describer struct {
	manifest           *release.Manifest
	api                *release.API
	declaresValidation bool // whether any model has rules of its own for records
	tags               []tag
	statuses           map[int]bool // declared by operations
	writes             bool         // whether some operation does
	reads              bool         // whether some operation does
	uploads            bool         // whether some operation takes uploads
	roots              []string     // components that some operation mentions
}

// parameters are the components that operations refer to.
func (d *describer) parameters() members[parameter] {
	all := members[parameter]{{timeZoneParameter, timeZone}}
	if d.writes {
		all.add(idempotencyKeyParameter, idempotencyKey)
	}
	if d.reads {
		all.add(positionParameter, position)
	}
	return all
}

func declaresValidation(m *release.Manifest) bool {
	for _, c := range m.Constraints {
		if c.Kind == release.Validate {
			return true
		}
	}
	return false
}

// tag adds the tag of a model or union, once.
func (d *describer) tag(model string) {
	if slices.ContainsFunc(d.tags, func(t tag) bool { return t.Name == model }) {
		return
	}
	t := tag{Name: model}
	for _, m := range d.manifest.Models {
		if m.Name == model {
			t.Description = m.Doc
		}
	}
	d.tags = append(d.tags, t)
}

// action describes the call of an action.
func (d *describer) action(a *release.Action) *operation {
	d.roots = append(d.roots, a.Input)
	statuses := slices.Clone(everyStatus)
	switch {
	case account.Is(a):
		statuses = append(statuses, account.Statuses...)
	case slices.Contains([]release.Kind{release.Update, release.Delete, release.Read, release.Write}, a.Kind):
		statuses = append(statuses, 404)
	}
	parameters := []any{reference{"#/components/parameters/" + timeZoneParameter}}
	var headers members[header]
	if a.Kind.Writes() {
		headers = positionHeader
	} else {
		d.reads = true
		parameters = append(parameters, reference{"#/components/parameters/" + positionParameter})
	}
	takesKey := a.Kind.Writes() && !account.Is(a)
	if takesKey {
		d.writes = true
		statuses = append(statuses, 422)
		parameters = append(parameters, reference{"#/components/parameters/" + idempotencyKeyParameter})
		headers = slices.Concat(replayedHeader, positionHeader)
	}
	isReadAnew := a.AnswersAgain && a.Record != "" // and may have changed when its call is repeated
	if takesKey && (d.declaresValidation || isReadAnew) {
		statuses = append(statuses, 409)
	}
	if a.Custom {
		statuses = append(statuses, 404, 409)
	}
	// An unreadable input is reported elsewhere, when the action is built.
	if reader, err := input.Compile(d.manifest.Schemas, a.Input); takesKey || err == nil && reader.TakesFiles() {
		statuses = append(statuses, 429)
	}
	responses := d.outcomes("The result.", headers, d.result(a), statuses)
	if a.Kind == release.Start {
		responses[0].name = "202"
	}
	return &operation{
		OperationID: a.Name,
		Tags:        []string{a.Model},
		Summary:     Summary(a.Name, a.Doc),
		Description: a.Doc,
		Parameters:  parameters,
		RequestBody: &requestBody{Required: d.manifest.Schemas.Requires(a.Input), Content: jsonContent(release.RefTo(a.Input))},
		Responses:   responses,
		Security:    security(a.Anonymous),
	}
}

// run describes the question for a run of a job.
func (d *describer) run(a *release.Action) *operation {
	return &operation{
		OperationID: a.Name + "Run",
		Tags:        []string{a.Model},
		Summary:     "What became of a run",
		Description: "Only who started the run is told.",
		Parameters: []any{
			parameter{Name: "run", In: "query", Required: true, Description: "The id of the run.", Schema: release.Typed("string")},
		},
		Responses: d.outcomes("The run.", nil, runOfJob, append(slices.Clone(everyStatus), 404)),
		Security:  security(true), // of who started it
	}
}

// runOfJob is the schema of a run.
var runOfJob = release.Typed("object").With("properties", release.Properties{}.
	With("run", release.Typed("string")).
	With("state", release.Typed("string").With("enum", []string{"waiting", "running", "succeeded", "failed", "cancelled"})).
	With("startedAt", release.TypedOrNull("string", true).With("format", "date-time")).
	With("finishedAt", release.TypedOrNull("string", true).With("format", "date-time")).
	With("attempts", release.Typed("integer")).
	With("result", release.Anything().Described("What the code has returned.")).
	With("message", release.TypedOrNull("string", true).Described("Why it failed, or is tried again."))).
	Requiring("run", "state", "startedAt", "finishedAt", "attempts", "result", "message")

// result returns the schema of an action's result.
func (d *describer) result(a *release.Action) *release.JSONSchema {
	switch {
	case a.Kind == release.Delete && a.Row == "":
		return release.Typed("string").Described("The id of the deleted record.")
	case a.Result == "":
		return release.Anything()
	}
	d.roots = append(d.roots, a.Result)
	if a.Kind == release.Get {
		return release.OneOf(release.RefTo(a.Result), release.Typed("null"))
	}
	return release.RefTo(a.Result)
}

// outcomes lists the possible answers of an operation.
func (d *describer) outcomes(success string, headers members[header], schema *release.JSONSchema, statuses []int) members[any] {
	slices.Sort(statuses)
	var all members[any]
	all.add("200", response{Description: success, Headers: headers, Content: jsonContent(schema)})
	for _, status := range slices.Compact(statuses) {
		d.statuses[status] = true
		all.add(strconv.Itoa(status), reference{"#/components/responses/" + responseName(status)})
	}
	return all
}

// security returns the token requirement of an operation. An empty requirement admits
// anonymous callers.
func security(anonymous bool) []map[string][]string {
	requirements := []map[string][]string{{bearerScheme: {}}}
	if anonymous {
		requirements = append(requirements, map[string][]string{})
	}
	return requirements
}
