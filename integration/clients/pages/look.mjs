// Looks at the pages of an application in windows of several kinds with Chromium and
// prints what a person would not accept, and what the page asked for elsewhere. Where
// SCREENSHOTS names a folder, pictures are left there.
//
//   node look.mjs <address of the service> <name for the pictures>

import { chromium } from "playwright-core";

const [base, name] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

/** faults lists what runs over the window, and words that are broken into letters. */
function faults() {
  const found = [];
  const beyond = document.documentElement.scrollWidth - innerWidth;
  if (beyond > 0) {
    found.push(`runs ${beyond} px over the window`);
  }
  for (const cell of document.querySelectorAll(".matrix td, .matrix th, thead th")) {
    if (cell.offsetParent && cell.getBoundingClientRect().height > 60) {
      found.push(`${cell.textContent} is broken into lines`);
    }
  }
  return found;
}

for (const [kind, width, height, colorScheme] of [["wide", 1280, 900, "light"], ["narrow", 390, 844, "light"], ["dark", 1280, 900, "dark"]]) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  const outside = [];
  const complaints = [];
  page.on("request", (r) => r.url().startsWith(base) || r.url().startsWith("data:") || outside.push(r.url()));
  page.on("pageerror", (e) => complaints.push(String(e)));
  page.on("console", (m) => m.type() === "error" && complaints.push(m.text()));
  const look = async (place) => {
    if (process.env.SCREENSHOTS) {
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}-${kind}-${place}.png` });
    }
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const all = [...(await page.evaluate(faults)), ...outside.splice(0), ...complaints.splice(0)];
    console.log(`${kind} ${place}: ${all.join("; ") || "fine"}, on ${ground}`);
  };

  await page.goto(base + "/");
  await look("application");
  for (const details of await page.locator("main details").all()) {
    await details.evaluate((d) => (d.open = true));
  }
  await page.waitForFunction(() => [...document.querySelectorAll("details[data-sql] > pre")].every((p) => p.textContent !== ""));
  await page.locator("#who-may").scrollIntoViewIfNeeded();
  await look("all open");
  await page.goto(base + "/docs");
  await page.locator(".opblock").first().waitFor();
  await look("reference");
  await page.locator(".btn.authorize").click();
  const dialog = await page.locator(".modal-ux").boundingBox();
  if (dialog.y < 0 || dialog.y + dialog.height > height) {
    console.log(`${kind} dialog: outside of the window`);
  }
  await page.close();
}
await browser.close();
