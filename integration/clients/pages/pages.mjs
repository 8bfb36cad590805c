// Walks through the pages of the workshop with Chromium and prints what it sees, a
// line each. Where SCREENSHOTS names a folder, pictures of the pages are left there.
//
//   node pages.mjs <address of the service>

import { browser, open, picture, sent } from "./browser.mjs";

const base = process.argv[2];
const { page, outside, complaints } = await open(base);
const see = (name) => page.goto(`${base}/docs/action/${name}`);
const field = (path) => page.locator(`[data-path="${path}"]`).locator("input, select, textarea").first();

/** sendJSON tries an action with an input as JSON. */
async function sendJSON(name, input) {
  await see(name);
  await page.getByRole("tab", { name: "JSON" }).click();
  await page.locator("#json textarea").fill(JSON.stringify(input));
  return sent(page);
}

/** described counts the operations in the description of an API. */
const described = async (api) =>
  Object.values((await (await fetch(`${base}/${api}/json/openapi.json`)).json()).paths).flatMap((path) => Object.keys(path)).length;

// The overview, and a page of each model and action.
await page.goto(base + "/");
console.log("title:", await page.title());
console.log("models:", (await page.locator("section.model > h2 > a:first-child").allTextContents()).join(" "));
console.log("caller:", await page.locator("#who").textContent());
console.log("padlocks:", (await page.locator(".models li:has(.lock) a").allTextContents()).join(" "));
await picture("application", page);
await page.getByRole("link", { name: "RepairOrder", exact: true }).first().click();
console.log("model:", await page.title(), (await page.locator("main tbody td:first-child").allTextContents()).join(" "));
await page.locator("details[data-sql] > summary").click();
await page.waitForFunction(() => document.querySelector("[data-sql] pre").textContent.includes("create policy repair_order_select"));
await picture("model", page);

// A field for each input.
await see("createCustomer");
await field("name").fill("Ada");
await field("email").fill("ada@example.com");
await field("newsletter").selectOption("true");
const made = await sent(page);
console.log("create:", made.status, made.answer.name, made.answer.newsletter, made.answer.phone);
const twice = await sent(page);
console.log("create again:", twice.status, await page.locator('[data-path="email"] .problem').textContent());
await picture("action", page);
await page.getByRole("tab", { name: "JSON" }).click();
console.log("as JSON:", (await page.locator("#json textarea").inputValue()).replace(/\s+/g, ""));
await page.locator("#json textarea").fill('{"name":"Grace","phone":null}');
await page.getByRole("tab", { name: "Form" }).click();
console.log("as a form again:", await field("name").inputValue(), await page.locator('[data-path="phone"] [type="checkbox"]').isChecked());
await page.locator("summary", { hasText: "Inputs" }).click();
console.log("inputs:", (await page.locator("details[open] tbody tr td:first-child").allTextContents()).join(", "));
await page.locator("summary", { hasText: "SQL" }).click();
await page.waitForFunction(() => document.querySelector("[data-sql] pre").textContent.includes("insert into app.customer"));
const colours = await page.evaluate(() => [...CSS.highlights].map(([name, ranges]) => `${name} ${ranges.size > 0}`).sort());
console.log("sql: as it runs,", colours.join(", "));

await see("listCustomers");
await page.getByRole("button", { name: "All inputs" }).click();
console.log("list with all inputs:", (await sent(page)).status);
await page.getByRole("button", { name: "Clear" }).click();
await page.locator('[data-path="where.name"]').getByRole("button", { name: "+ filter" }).click();
await page.getByLabel("operator of name").selectOption("startsWith");
await page.locator('[data-path="where.name"] .operator input').fill("A");
console.log("list by a filter:", (await sent(page)).answer.results.map((r) => r.name).join(" "));

// A nested input, with an entry of a list, and a number whose digits stay.
await see("takeIn");
await page.getByRole("button", { name: "What is required" }).click();
await page.getByRole("button", { name: "+ entry" }).click();
await page.locator('[data-path="items.0.what"] input').fill("a chain");
await page.locator('[data-path="items.0.price"] input').fill("12.50");
await page.getByRole("tab", { name: "JSON" }).click();
console.log("nested:", (await page.locator("#json textarea").inputValue()).replace(/\s+/g, ""));
console.log("nested, sent:", (await sent(page)).status);

// Files: what the field does not accept is refused before it is sent.
const bicycle = await sendJSON("listBicycles", {});
await see("photographBicycle");
console.log("accepts:", await field("values.photos").getAttribute("accept"), await page.locator(".file small").first().textContent());
await field("where.id").fill(bicycle.answer.results[0].id);
await field("values.photos").setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("text") });
await page.locator(".file output.problem").waitFor();
console.log("a text:", await page.locator(".file output").textContent());
await field("values.photos").setInputFiles({ name: "big.png", mimeType: "image/png", buffer: Buffer.alloc(5_000_001) });
await page.waitForFunction(() => document.querySelector(".file output").textContent.includes("big.png"));
console.log("too large:", await page.locator(".file output").textContent());
await field("values.photos").setInputFiles([{ name: "a.png", mimeType: "image/png", buffer: Buffer.from("png") }, { name: "large.png", mimeType: "image/png", buffer: Buffer.alloc(4_000_000) }]);
await page.waitForFunction(() => document.querySelector(".file output").textContent === "inline, uploaded");
const photographed = await sent(page);
console.log("photos:", photographed.status, photographed.answer.photos.map((p) => `${p.filename} ${p.size}`).join(", "));

// Who may do what; anonymous, then signed in.
await page.goto(base + "/docs/access");
console.log("matrix:", await page.locator('tr[data-action="hireMechanic"]').innerText());
await picture("access", page);
console.log("anonymous:", (await sendJSON("hireMechanic", { name: "Grace" })).status);
await page.locator("#caller > summary").click();
await page.locator('#sign-in input[name="username"]').fill("ada@example.com");
await page.locator('#sign-in input[name="password"]').fill("correct horse battery");
await page.getByRole("button", { name: "Sign in" }).click();
await page.locator("#who", { hasText: "ada@example.com" }).waitFor();
console.log("signed in:", (await sent(page)).status);
console.log("on another page:", (await sendJSON("hireMechanic", { name: "Linus" })).status);

// The palette finds names, rules and inputs, and SQL.
const find = async (text) => {
  await page.keyboard.press("Control+k");
  await page.locator("#palette input").fill(text);
};
await find("colours");
console.log("found:", (await page.locator("#palette [role=option] b").allTextContents()).join(" "));
await picture("palette", page);
await page.locator("#palette input").fill("insert into app.mechanic");
await page.locator("#palette [role=option]", { hasText: "in its SQL" }).waitFor();
console.log("found in SQL:", (await page.locator("#palette [role=option] b").allTextContents()).join(" "));
await page.locator("#palette input").fill("no such thing");
console.log("found:", await page.locator("#palette ul").textContent());
await page.locator("#palette input").fill("model Mech");
await page.keyboard.press("Enter");
await page.waitForURL("**/docs/model/Mechanic");
console.log("gone to:", await page.title());

// The reference, still signed in: padlocks where a sign-in is needed, open by now.
await page.goto(base + "/docs");
await page.locator(".opblock-summary-path", { hasText: "createCustomer" }).waitFor();
console.log("operations:", (await page.locator(".opblock").count()) === (await described("api")) ? "all" : "not all");
console.log("padlocks:", (await page.locator(".opblock:has(.authorization__btn) .opblock-summary-path").allTextContents()).map((p) => p.replace(/.*\//, "").replaceAll("\u200b", "")).join(" "));
await picture("reference", page);
const list = page.locator("#operations-Bicycle-listBicycles");
await list.locator(".opblock-summary-control").click();
console.log("example:", (await list.locator(".body-param__example").innerText()).replace(/\s+/g, ""));
const operation = page.locator("#operations-Mechanic-hireMechanic");
await operation.locator(".opblock-summary-control").click();
await operation.getByRole("button", { name: "Try it out" }).click();
await operation.locator("textarea").fill('{"name":"Margaret"}');
await operation.getByRole("button", { name: "Execute" }).click();
await operation.locator(".live-responses-table tr.response").first().waitFor();
console.log("executed:", (await operation.locator(".live-responses-table tr.response td.response-col_status").first().innerText()).trim());
await picture("operation", page);
await page.getByRole("link", { name: "Tablet" }).click();
await page.locator(".opblock-summary-path", { hasText: "moveOrder" }).waitFor();
console.log("operations of Tablet:", (await page.locator(".opblock").count()) === (await described("tablet")) ? "all" : "not all");

await page.getByRole("link", { name: "workshop" }).click();
await page.locator("#caller > summary").click();
await page.getByRole("button", { name: "Be anonymous" }).click();
console.log("caller:", await page.locator("#who").textContent());
console.log("outside:", [...outside].join(" ") || "nothing");
console.log("complaints:", complaints.join(" | ") || "none");
await browser.close();
