// The parts that the tests of pages share: a browser that notes the requests of a page to other
// hosts, and its complaints.

import { chromium } from "playwright-core";

export const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

/** open opens a window for the pages of a service. */
export async function open(base, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  page.setDefaultTimeout(60_000);
  const outside = new Set();
  const complaints = []; // of the browser: scripts that fail, what the policy blocks
  page.on("request", (r) => r.url().startsWith(base) || r.url().startsWith("data:") || outside.add(r.url()));
  page.on("pageerror", (e) => complaints.push(String(e)));
  page.on("console", (m) => {
    if (m.type() === "error" && !m.text().includes("the server responded with a status of")) {
      complaints.push(m.text());
    }
  });
  return { page, outside, complaints };
}

/** picture leaves a picture in the folder that SCREENSHOTS names, if any. */
export async function picture(name, what) {
  if (process.env.SCREENSHOTS) {
    await what.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png` });
  }
}

const expected = process.env.EXPECTED?.split("\n");
let line = 0;

/**
 * say prints values and the results of functions that read the page, in one line. The page may still be at work. So say
 * repeats the functions until the line is the next one of EXPECTED, at most for 30 s.
 */
export async function say(...parts) {
  const want = expected?.[line++];
  const reads = want !== undefined && parts.some((part) => typeof part === "function");
  const end = Date.now() + 30_000;
  for (let pause = 50; ; pause = Math.min(2 * pause, 800)) { // reading a page may cost more than it takes to get ready
    const got = (await Promise.all(parts.map((part) => (typeof part === "function" ? part() : part)))).map(String).join(" ");
    if (got === want || !reads || Date.now() > end) {
      console.log(got);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** sent sends the form of the page of an action, and returns the response. */
export async function sent(page) {
  await page.locator("#try .buttons output").evaluate((o) => (o.textContent = ""));
  await page.getByRole("button", { name: "Send" }).click();
  await page.waitForFunction(() => /^(\d|not)/.test(document.querySelector("#try .buttons output").textContent));
  const [status] = (await page.locator("#try .buttons output").textContent()).split(" ");
  return { status, answer: JSON.parse((await page.locator(".answer").textContent()) || "null") };
}
