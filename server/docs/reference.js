// Shows the description of an API with Swagger UI. Its requests go to the server of this
// page, at first as the caller of the other pages.
"use strict";

const place = document.getElementById("reference");
const problem = document.getElementById("problem");

/** forPage adapts a description to this page: its server, examples that the server accepts, and padlocks. */
async function forPage(description) {
  description.servers = [{ url: new URL(".", location.href).href.replace(/\/$/, "") }];
  const samples = await (await fetch("docs/samples")).json();
  for (const item of Object.values(description.paths)) {
    for (const operation of Object.values(item)) {
      const body = operation.requestBody?.content?.["application/json"];
      if (body && operation.operationId in samples) {
        body.example = samples[operation.operationId];
      }
      // An operation for anonymous callers shows no padlock. The token is sent anyway.
      if (operation.security?.some((requirement) => Object.keys(requirement).length === 0)) {
        operation.security = [];
      }
    }
  }
  return description;
}

async function show() {
  const headers = await caller.headers();
  const response = await fetch(place.dataset.description, { headers });
  const description = await response.json();
  if (!response.ok) {
    throw new Error(description.message);
  }
  let reference;
  const token = () => reference.authSelectors.authorized().getIn(["bearer", "value"]);
  reference = SwaggerUIBundle({
    spec: await forPage(description),
    domNode: place,
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
    syntaxHighlight: { activated: false },
    plugins: [padlocks],
    requestInterceptor(request) {
      if (token() && !request.headers.Authorization) {
        request.headers.Authorization = "Bearer " + token();
      }
      return request;
    },
    onComplete() {
      if (headers.Authorization) {
        reference.preauthorizeApiKey("bearer", headers.Authorization.replace("Bearer ", ""));
      }
    },
  });
}

/** padlocks shows a closed padlock, and an open one once there is a token. */
function padlocks(system) {
  const icon = (path) => (properties) =>
    system.React.createElement("svg", { viewBox: "0 0 16 16", width: 20, height: 20, "aria-hidden": true, ...properties }, system.React.createElement("path", { d: path }));
  const body = "M4 7h8a1 1 0 0 1 1 1v5a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1z";
  return {
    components: {
      UnlockIcon: icon(body + "M4.5 7V5a3.5 3.5 0 0 1 7 0v2H10V5a2 2 0 0 0-4 0v2z"),
      LockIcon: icon(body + "M10 7V4a2.75 2.75 0 0 1 5.5 0v1.5H14V4a1.25 1.25 0 0 0-2.5 0v3z"),
    },
  };
}

if (place) {
  show().catch((e) => {
    problem.textContent = "The description cannot be shown: " + e.message;
  });
}
