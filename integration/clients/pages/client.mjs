// Uses the workshop's client in two tabs of Chromium, on a page of another origin, and prints what it does.
//
//   node client.mjs <address of the service> <address of the page>

import { chromium } from "playwright-core";

const [base, address] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const context = await browser.newContext();
const complaints = [];
const requests = [];
const tab = async () => {
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on("pageerror", (e) => complaints.push(String(e)));
  page.on("request", (r) => r.method() !== "OPTIONS" && requests.push(`${r.method()} ${new URL(r.url()).pathname}`));
  await page.goto(address);
  await page.evaluate(async (baseUrl) => {
    const { ApiError, createClient } = await import("/client.js");
    Object.assign(window, { ApiError, client: createClient({ baseUrl }), told: [] });
    client.onSignInChange((isSignedIn) => told.push(isSignedIn));
  }, base);
  return page;
};
const count = (wanted) => requests.filter((request) => request === wanted).length;
const one = await tab();
const other = await tab();

// A sign-in holds for all tabs, and after a reload.
await one.evaluate(() => client.signIn({ username: "tabs@example.com", password: "correct horse canary" }));
await other.waitForFunction(() => told.length > 0);
console.log("told:", await one.evaluate(() => told.join()), await other.evaluate(() => told.join()));
console.log("hired:", await other.evaluate(async () => (await client.hireMechanic({ name: "Mia" })).name));

// The token is due in both tabs at once. The refresh takes long enough for both to ask. One tab sees what the other
// stored later than in any browser.
await context.route("**/auth/token", async (route) => {
  await new Promise((resolve) => setTimeout(resolve, 500));
  await route.continue();
});
await one.evaluate((key) => {
  localStorage.setItem(key, JSON.stringify({ ...JSON.parse(localStorage.getItem(key)), freshUntil: 0 }));
}, `sternpost ${base}`);
requests.length = 0;
const names = await Promise.all([one, other].map((page) => page.evaluate(async (baseUrl) => {
  const { createClient } = await import("/client.js");
  const kept = { ...localStorage };
  addEventListener("storage", ({ key, newValue }) => setTimeout(() => (kept[key] = newValue), 200));
  const storage = {
    getItem: (key) => kept[key] ?? null,
    setItem: (key, value) => localStorage.setItem(key, (kept[key] = value)),
  };
  const late = createClient({ baseUrl, storage });
  const lists = await Promise.all([1, 2, 3].map(() => late.listMechanics()));
  return lists.map((list) => list.results[0].name).join();
}, base)));
console.log("refreshed:", count("POST /auth/token"), "for", count("POST /api/json/listMechanics"), "calls,", names.join());

// Passkeys: made, then shown instead of a password, behind it, and for a session that goes on. Then the same without the
// methods for JSON, as in older browsers.
await one.bringToFront(); // a page behind another shows none
const authenticator = await context.newCDPSession(one);
await authenticator.send("WebAuthn.enable");
const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true };
const { authenticatorId } = await authenticator.send("WebAuthn.addVirtualAuthenticator", { options });
for (const methods of ["of today", "of yesterday"]) {
  console.log(`passkeys ${methods}:`, await one.evaluate(async ([baseUrl, methods]) => {
    const { createClient, createPasskey } = await import("/client.js");
    if (methods === "of yesterday") {
      for (const name of ["parseCreationOptionsFromJSON", "parseRequestOptionsFromJSON"]) delete PublicKeyCredential[name];
      delete PublicKeyCredential.prototype.toJSON;
    }
    const kept = {};
    const storage = { getItem: (key) => kept[key] ?? null, setItem: (key, value) => (kept[key] = value), removeItem: (key) => delete kept[key] };
    const asked = [];
    const user = createClient({ baseUrl, storage, askCredential: async ({ needs, factors, error }) => {
      asked.push([needs, factors, error.code].join(" "));
      return { passkey: true };
    } });
    const account = { username: `${methods.replace(" ", "-")}@example.com`, password: "correct horse canary" };
    await user.signIn(account);
    await user.confirmPasskey({ credential: await createPasskey((await user.startPasskey()).publicKey), name: "this computer" });
    await user.signOut();
    const { identityCreated } = await user.signInWithPasskey();
    const { factors } = await user.listFactors();
    await user.signOut();
    await user.signIn(account);
    const again = await createPasskey((await user.startPasskey()).publicKey).catch((error) => error.name);
    return JSON.stringify([identityCreated, factors.map(({ kind, name, usedAt }) => [kind, name, usedAt !== null]), asked, again]);
  }, [base, methods]));
  await authenticator.send("WebAuthn.clearCredentials", { authenticatorId });
}

// Errors have their codes and headers through CORS.
console.log("refused:", await one.evaluate(async () => {
  const error = await client.createCustomer({ name: "Ada", email: "ada@example.com" }).then(() => client.createCustomer({ name: "Ada", email: "ada@example.com" })).catch((e) => e);
  return [error instanceof ApiError, error.code, error.data.errors[0].field, error.requestId.length].join(" ");
}));

// A file goes to storage with progress on its way.
console.log("photo:", await one.evaluate(async () => {
  const ada = (await client.listCustomers()).results[0];
  const { id } = await client.registerBicycle({ owner: { id: ada.id }, brand: "Swift", frameNumber: "T-1", kind: "City" });
  const picture = new File([new Uint8Array(300_000)], "front ü.png", { type: "image/png" });
  const progress = [];
  const key = await client.upload("photographBicycle", "photos", picture, { onProgress: ({ loaded, total }) => progress.push(loaded / total) });
  const { photos } = await client.photographBicycle({ where: { id }, values: { photos: [key] } });
  const rises = progress.every((part, i) => part > (progress[i - 1] ?? -1));
  return [photos[0].filename, photos[0].size, rises, progress.at(-1)].join(" ");
}));
console.log("ended:", await one.evaluate(async () => {
  const control = new AbortController();
  const picture = new File([new Uint8Array(300_000)], "front.png", { type: "image/png" });
  const sent = client.upload("photographBicycle", "photos", picture, { signal: control.signal, onProgress: () => control.abort(new Error("enough")) });
  return sent.then(() => "never", String);
}));

await other.reload();
console.log("after a reload:", await other.evaluate(async (baseUrl) => {
  const { createClient } = await import("/client.js");
  Object.assign(window, { client: createClient({ baseUrl }), told: [] });
  client.onSignInChange((isSignedIn) => told.push(isSignedIn));
  return client.isSignedIn();
}, base));
await one.evaluate(() => client.signOut());
await other.waitForFunction(() => told.length > 0);
console.log("signed out:", await other.evaluate(async () => `${told.join()} ${await client.accessToken()} ${localStorage.length}`));
console.log("complaints:", complaints.join("; ") || "none");
await browser.close();
