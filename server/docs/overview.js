// What only sternpost dev knows of the application: its rows, and the warnings of its schema.
"use strict";

ask("overview").then(({ rows, warnings }) => {
  let all = 0;
  for (const link of document.querySelectorAll("[data-count]")) {
    const count = rows[link.dataset.count] ?? 0;
    all += count;
    link.textContent = count > 10000 ? "more than 10,000 rows" : count === 1 ? "1 row" : count.toLocaleString("en") + " rows";
  }
  document.getElementById("all-rows").textContent = all === 1 ? ", 1 row" : `, ${all > 10000 ? "more than 10,000" : all} rows`;
  document.getElementById("no-rows").hidden = all > 0;
  const place = document.getElementById("warnings");
  place.hidden = warnings.length === 0;
  place.querySelector("summary").textContent = warnings.length === 1 ? "1 warning of the compiler" : `${warnings.length} warnings of the compiler`;
  place.querySelector("pre").textContent = warnings.join("\n");
});
