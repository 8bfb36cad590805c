"use strict";

// The buttons of the pages of events and of jobs.
for (const button of document.querySelectorAll("button[data-do]")) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    const answer = await fetch("docs/data/mend", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ do: button.dataset.do, named: button.dataset.named, inputs: button.parentElement.querySelector("input")?.value }),
    });
    if (answer.ok) return location.reload();
    button.disabled = false;
    document.getElementById("refused").textContent = (await answer.json()).message;
  });
}
