package server

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/sternpost/sternpost/server/mcp"
	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/server/request"
	"github.com/sternpost/sternpost/sql/release"
)

// mcpStages answer a message of an agent. The call of a tool goes through the stages of a call itself.
var mcpStages = stages{
	arrive: []stage{(*call).requireTools, (*call).answerAgentPreflight, (*call).identifyAgent, (*call).readZone, (*call).checkPost, (*call).checkOrigin},
	act:    []stage{(*call).answerMessage},
}

func (s *Server) mcp(c *fiber.Ctx) error { return s.goThrough(c, &mcpStages) }

// resourceMetadata is the path, before that of the tools of an API, of the document that says who issues tokens for them
// (RFC 9728).
const resourceMetadata = "/.well-known/oauth-protected-resource/"

// describeResource answers with that document.
func (s *Server) describeResource(c *fiber.Ctx) error {
	if exposed, err := s.route(c, s.current.Load()); err != nil || exposed.tools == nil {
		return &refusal.ActionNotFound
	}
	return s.signIn.SendPublic(c, map[string]any{
		"resource": s.config.BaseURL + "/" + c.Params("api") + "/mcp", "authorization_servers": []string{s.config.BaseURL}, "bearer_methods_supported": []string{"header"},
	})
}

// requireTools refuses a request to an API whose actions are not tools.
func (k *call) requireTools() error {
	if exposed, err := k.server.route(k.http, k.release); err != nil || exposed.tools == nil {
		return &refusal.ActionNotFound
	}
	return nil
}

// answerAgentPreflight is answerPreflight, with the headers of messages.
func (k *call) answerAgentPreflight() error {
	return k.preflight("Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name")
}

// identifyAgent is identify. A refusal also says where an agent finds out who issues tokens.
func (k *call) identifyAgent() error {
	err := k.identify()
	if refused := refusal.Of(err); err != nil && refused.Status == fiber.StatusUnauthorized {
		scheme, rest, _ := strings.Cut(refused.Authenticate, " ")
		document := `resource_metadata="` + k.server.config.BaseURL + resourceMetadata + k.http.Params("api") + `/mcp"`
		refused.Authenticate = strings.TrimSuffix(scheme+" "+document+", "+rest, ", ")
		return refused
	}
	return err
}

// checkOrigin refuses messages of pages that may not read the answers.
func (k *call) checkOrigin() error {
	if k.server.policy.IsForeign(k.http) {
		return refusal.PermissionDenied.Saying("tools are not available to pages of %q", refusal.Cut(k.http.Get("Origin"), 64))
	}
	return nil
}

// answerMessage reads a message and answers it.
func (k *call) answerMessage() error {
	if !k.server.policy.TakesBody(k.http) {
		return &refusal.UnsupportedMediaType
	}
	body, err := k.server.policy.ReadBody(k.http)
	if err != nil {
		return err
	}
	api := k.release.apis[k.http.Params("api")]
	host := mcp.Host{
		Name: api.declared.Name, Version: strconv.FormatInt(k.release.number, 10), Instructions: api.declared.Doc, Call: k.callTool,
		List: func() ([][]byte, error) {
			tools, err := api.tools()
			if err != nil {
				return nil, err
			}
			classes, err := k.classes()
			return tools.List(classes), err
		},
	}
	status, response, err := host.Handle(body, &mcp.Header{
		Version: k.http.Get("Mcp-Protocol-Version"), Method: k.http.Get("Mcp-Method"), Name: k.http.Get("Mcp-Name"),
	})
	if err != nil {
		return err
	}
	if k.http.Status(status); response != nil {
		k.request.Give(response, k.http.Response())
		k.http.Response().Header.SetContentType(request.JSONType)
	}
	return nil
}

// callTool calls an action, as the body of a request of its own would be. Its refusals are the result.
func (k *call) callTool(c mcp.Call) (result mcp.Result, err error) {
	if c.Key != nil {
		k.keys = [][]byte{[]byte(*c.Key)}
	}
	isProtocol := false // whether the error is one of the protocol
	err = k.server.onNewest(k.http, k.release, k.release.apis[k.http.Params("api")], func(r *served, api *api) error {
		tools, err := api.tools()
		if err != nil {
			return err
		}
		name, input, err := tools.Open(c, k.classes)
		if isProtocol = err != nil; isProtocol || name == "" {
			result.JSON = input
			return err
		}
		k.release = r
		k.setAction(api.actions[name])
		defer k.request.Substitute(input)()
		if err = k.goThrough(callStages.act); err != nil && err != errAnswered {
			return err
		}
		// A large answer is copied for the result, as an object and as a text. A write must be answered.
		const large, copies = 64 << 10, 3
		if result.JSON = k.http.Response().Body(); len(result.JSON) > large && !k.action.Kind.Writes() {
			return k.server.holdAnswer(k.http)(copies * len(result.JSON))
		}
		return nil
	})
	if err == nil || isProtocol {
		return result, err
	}
	k.request.Refused = refusal.Of(err)
	return mcp.Result{JSON: k.request.Refused.Envelope(), IsError: true}, nil
}

// classes returns the classes of callers to which the caller belongs: anonymous, or authenticated and its roles.
func (k *call) classes() ([]string, error) {
	if k.identity == "" {
		return []string{"anonymous"}, nil
	}
	var roles []string
	err := k.server.db.QueryRow("select platform.caller_roles($1, nullif($2, ''))", []any{k.identity, k.token}, &roles)
	if err != nil {
		return nil, refusal.OfCall(err, &release.Action{}, nil, nil)
	}
	m := k.release.manifest
	classes := append([]string{"authenticated"}, m.ByExpression...) // the call evaluates the expression
	for _, class := range m.Callers {
		if slices.Contains(roles, strings.ToLower(class)) {
			classes = append(classes, class)
		}
	}
	return classes, nil
}
