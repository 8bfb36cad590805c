// Looks at the pages of an application in windows of several kinds with Chromium and
// prints the faults that a person would see, and requests to other hosts. If SCREENSHOTS
// names a folder, it leaves pictures there.
//
//   node look.mjs <address of the service> <name for the pictures> <model> <action>

import { browser, open, picture, say } from "./browser.mjs";

const [base, name, model, action] = process.argv.slice(2);

/**
 * faults lists what a person sees wrong on a new page: a header above the window, contents without the place, elements
 * wider than the window, words broken into letters, and texts with too little contrast.
 */
function faults() {
  const found = [];
  if (scrollY > 0) {
    found.push(`is scrolled by ${scrollY} px`);
  }
  const here = document.querySelector("aside .here > a");
  const { top = 0, bottom = 0 } = (here?.checkVisibility() && here.getBoundingClientRect()) || {};
  if (top < 0 || bottom > innerHeight) {
    found.push("its place in the contents is outside of the window");
  }
  const header = document.querySelector("header");
  if (innerWidth < 600 && !header.closest("#reference-page") && header.offsetHeight > 60) {
    found.push(`its header is ${header.offsetHeight} px high`);
  }
  const beyond = document.documentElement.scrollWidth - innerWidth;
  if (beyond > 0) {
    found.push(`runs ${beyond} px over the window`);
  }
  for (const cell of document.querySelectorAll(".matrix td, .matrix th, thead th")) {
    if (cell.offsetParent && cell.getBoundingClientRect().height > 60) {
      found.push(`${cell.textContent} is broken into lines`);
    }
  }
  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (place) => {
    const layers = [];
    for (; place; place = place.parentElement) {
      const [r, g, b, a = 1] = parts(getComputedStyle(place).backgroundColor);
      layers.unshift([r, g, b, a]);
    }
    return layers.reduce((under, [r, g, b, a]) => [r, g, b].map((v, i) => v * a + under[i] * (1 - a)), [255, 255, 255]);
  };
  const seen = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const place = texts.currentNode.parentElement;
    const text = texts.currentNode.data.trim();
    if (text === "" || !place.checkVisibility?.({ visibilityProperty: true }) || place.closest(":disabled, svg, option, script, .opblock-summary-method, .version")) {
      continue;
    }
    const [one, other] = [light(getComputedStyle(place).color), light(`rgb(${ground(place).join(",")})`)];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < 3 && !seen.has(text)) {
      seen.add(text);
      found.push(`"${text.slice(0, 30)}" is hard to read (${contrast.toFixed(1)})`);
    }
  }
  return found.slice(0, 5);
}

for (const [kind, width, height, colorScheme] of [["wide", 1280, 900, "light"], ["narrow", 390, 844, "light"], ["dark", 1280, 900, "dark"]]) {
  const { page, outside, complaints } = await open(base, { viewport: { width, height }, colorScheme });
  const look = async (place) => {
    await picture(`${name}-${kind}-${place}`, page);
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const all = async () => [...(await page.evaluate(faults)), ...outside, ...complaints].join("; ") || "fine";
    await say(async () => `${kind} ${place}: ${await all()}, on ${await ground()}`);
    outside.clear();
    complaints.length = 0;
  };
  const openAll = async () => {
    for (const details of await page.locator("main details").all()) {
      await details.evaluate((d) => (d.open = true));
    }
    await page.waitForFunction(() => [...document.querySelectorAll("details[data-sql] > pre")].every((p) => p.textContent !== ""));
  };

  await page.goto(base + "/");
  await look("application");
  await page.goto(`${base}/docs/model/${model}`);
  await openAll();
  await look("model");
  await page.goto(`${base}/docs/action/${action}`);
  await page.getByRole("button", { name: "All inputs" }).click();
  await openAll();
  await look("action");
  await page.goto(await page.locator("aside li a:not(.rows)").last().evaluate((a) => a.href));
  await look("last action");
  await page.goto(base + "/docs/access");
  await look("access");
  await page.goto(base + "/docs");
  await page.locator(".opblock").first().waitFor();
  await look("reference");
  await page.locator(".opblock-summary-control").first().click();
  await page.locator(".opblock-body .responses-wrapper").first().waitFor();
  await look("operation");
  await page.locator(".btn.authorize").click();
  await page.locator(".modal-ux").waitFor();
  const dialog = await page.locator(".modal-ux").boundingBox();
  if (dialog.y < 0 || dialog.y + dialog.height > height) {
    console.log(`${kind} dialog: outside of the window`);
  }
  await page.close();
}
await browser.close();
