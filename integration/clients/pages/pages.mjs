// Walks through the pages of the workshop with Chromium and prints what it sees, a
// line each. Where SCREENSHOTS names a folder, pictures of the pages are left there.
//
//   node pages.mjs <address of the service>

import { chromium } from "playwright-core";

const base = process.argv[2];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
page.setDefaultTimeout(30_000);

const outside = new Set();
const complaints = []; // of the browser: scripts that fail, what the policy blocks
page.on("request", (r) => r.url().startsWith(base) || r.url().startsWith("data:") || outside.add(r.url()));
page.on("pageerror", (e) => complaints.push(String(e)));
page.on("console", (m) => {
  if (m.type() === "error" && !m.text().includes("the server responded with a status of")) {
    complaints.push(m.text());
  }
});

async function picture(name, what = page) {
  if (process.env.SCREENSHOTS) {
    await what.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png` });
  }
}

const action = (name) => page.locator(`#action-${name}`);
const open = (place, title) => place.locator("summary", { hasText: title }).first().click();

/** send tries an action with an input, or with what the page proposes. */
async function send(name, input) {
  const place = action(name);
  if (!(await place.locator("form textarea").isVisible())) {
    await open(place, "Try it");
  }
  if (input !== undefined) {
    await place.locator("form textarea").fill(JSON.stringify(input));
  }
  await place.locator("output").evaluate((o) => (o.textContent = ""));
  await place.getByRole("button", { name: "Send" }).click();
  await page.waitForFunction((o) => /^\d/.test(o.textContent), await place.locator("output").elementHandle());
  const [status] = (await place.locator("output").textContent()).split(" ");
  return { status, answer: JSON.parse(await place.locator(".answer").textContent()) };
}

/** described counts the operations in the description of an API. */
const described = async (api) =>
  Object.values((await (await fetch(`${base}/${api}/json/openapi.json`)).json()).paths).flatMap((path) => Object.keys(path)).length;

// The page of the application.
await page.goto(base + "/");
console.log("title:", await page.title());
console.log("models:", (await page.locator("section.model > h2").allTextContents()).join(" "));
console.log("caller:", await page.locator("#who").textContent());
await picture("application");

await open(action("createCustomer"), "Inputs");
console.log("inputs:", (await action("createCustomer").locator("details[open] tbody tr td:first-child").allTextContents()).join(", "));
await open(action("createCustomer"), "Try it");
await action("createCustomer").getByRole("button", { name: "All inputs" }).click();
const made = await send("createCustomer");
console.log("create:", made.status, made.answer.name, made.answer.newsletter);
const twice = await send("createCustomer");
console.log("create again:", twice.status, twice.answer.data.errors[0].error);
await open(action("createCustomer"), "SQL");
await page.waitForFunction((p) => p.textContent.includes("insert into app.customer"), await action("createCustomer").locator("[data-sql] pre").elementHandle());
const colours = await page.evaluate(() => [...CSS.highlights].map(([name, ranges]) => `${name} ${ranges.size > 0}`).sort());
console.log("sql: as it runs,", colours.join(", "));
await picture("action", action("createCustomer"));

const listed = await send("listCustomers");
console.log("list as proposed:", listed.status, listed.answer.pageInfo.count);

const table = page.locator("#model-RepairOrder > details.table");
await open(table, "Table");
console.log("columns:", (await table.locator("tbody td:first-child").allTextContents()).join(" "));
await table.locator("details summary").click();
await page.waitForFunction((p) => p.textContent.includes("create policy repair_order_select"), await table.locator("pre").elementHandle());
await picture("table", table);

console.log("matrix:", await page.locator('#who-may tr[data-action="hireMechanic"]').innerText());
await picture("matrix", page.locator("#who-may"));

// Anonymous, then signed in, then not.
console.log("anonymous:", (await send("hireMechanic", { name: "Grace" })).status);
await page.locator('#sign-in input[name="username"]').fill("ada@example.com");
await page.locator('#sign-in input[name="password"]').fill("correct horse battery");
await page.getByRole("button", { name: "Sign in" }).click();
await page.waitForFunction(() => document.getElementById("who").textContent.includes("those of identity"));
console.log("signed in:", (await send("hireMechanic", { name: "Grace" })).status);
await page.reload();
console.log("after a reload:", (await send("hireMechanic", { name: "Linus" })).status);

// Search.
await page.fill("#search", "staff");
console.log("search:", (await page.locator("section.model:visible > h2").allTextContents()).join(" "));
await page.fill("#search", "colours");
console.log("search:", (await page.locator("article:visible").evaluateAll((all) => all.map((a) => a.dataset.action))).join(" "));
await picture("search");
await page.fill("#search", "insert into app.mechanic");
await page.locator("#action-hireMechanic details.hit > summary", { hasText: "SQL" }).waitFor();
console.log("search in SQL:", (await page.locator("article:visible").evaluateAll((all) => all.map((a) => a.dataset.action))).join(" "));
await page.fill("#search", "no such thing");
console.log("search:", await page.locator("#nothing").isVisible());

// The reference, still signed in.
await page.goto(base + "/docs");
await page.locator(".opblock-summary-path", { hasText: "createCustomer" }).waitFor();
console.log("operations:", (await page.locator(".opblock").count()) === (await described("api")) ? "all" : "not all");
await picture("reference");
const operation = page.locator("#operations-Mechanic-hireMechanic");
await operation.locator(".opblock-summary-control").click();
await operation.getByRole("button", { name: "Try it out" }).click();
await operation.locator("textarea").fill('{"name":"Margaret"}');
await operation.getByRole("button", { name: "Execute" }).click();
await operation.locator(".live-responses-table tr.response").first().waitFor();
console.log("executed:", (await operation.locator(".live-responses-table tr.response td.response-col_status").first().innerText()).trim());
await picture("operation");
await page.getByRole("link", { name: "Tablet" }).click();
await page.locator(".opblock-summary-path", { hasText: "moveOrder" }).waitFor();
console.log("operations of Tablet:", (await page.locator(".opblock").count()) === (await described("tablet")) ? "all" : "not all");

await page.getByRole("link", { name: "Your application" }).click();
await page.getByRole("button", { name: "Be anonymous again" }).click();
console.log("caller:", await page.locator("#who").textContent());
console.log("outside:", [...outside].join(" ") || "nothing");
console.log("complaints:", complaints.join(" | ") || "none");
await browser.close();
