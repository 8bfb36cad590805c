// Shows the description of an API with Swagger UI. The requests that it sends go to
// where the page came from, with the token of the page of the application.
"use strict";

const place = document.getElementById("reference");
const problem = document.getElementById("problem");

async function show() {
  const response = await fetch(place.dataset.description, { headers: token.header() });
  const description = await response.json();
  if (!response.ok) {
    throw new Error(description.message);
  }
  description.servers = [{ url: new URL(".", location.href).href.replace(/\/$/, "") }];
  SwaggerUIBundle({
    spec: description,
    domNode: place,
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
    requestInterceptor(request) {
      Object.assign(request.headers, token.header());
      return request;
    },
  });
}

if (place) {
  show().catch((e) => {
    problem.textContent = "The description cannot be shown: " + e.message;
  });
}
