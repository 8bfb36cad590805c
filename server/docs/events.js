"use strict";

// The buttons of the page of events.
for (const button of document.querySelectorAll("button[data-do]")) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    const answer = await fetch("docs/data/events", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ do: button.dataset.do, named: button.dataset.named }),
    });
    if (answer.ok) location.reload();
    else button.disabled = false;
  });
}
