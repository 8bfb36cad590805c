// Shows the description of an API with Swagger UI. The requests that it sends go to
// where the page came from, and at first with the token of the page of the application.
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
  const reference = SwaggerUIBundle({
    spec: description,
    domNode: place,
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
    onComplete() {
      if (token.get()) {
        reference.preauthorizeApiKey("bearer", token.get());
      }
    },
  });
}

if (place) {
  show().catch((e) => {
    problem.textContent = "The description cannot be shown: " + e.message;
  });
}
