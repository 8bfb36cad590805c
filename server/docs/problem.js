// Loads the requested page as soon as the server is ready. The server does not log these
// questions, so its log keeps to the problem.
"use strict";

const root = document.currentScript.dataset.root;

setInterval(async () => {
  const answer = await fetch(root + "readyz").catch(() => null);
  if (answer?.ok) {
    location.reload();
  }
}, 2000);
