// Calls of the workshop through its own client.

import { ApiError, createClient, dataUrl, type ClientOptions } from "./workshop-client.js";
import { createClient as createTabletClient } from "./workshop-tablet-client.js";
import { baseUrl, equal, some, step } from "./program.js";

const workshop = createClient({ baseUrl: baseUrl + "/" });
const tablet = createTabletClient({ baseUrl });

/** The error that a promise fails with. */
export async function failure(promise: Promise<unknown>): Promise<ApiError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("nothing failed");
}

/** A client whose requests go through a function first, and the requested paths. */
function through(treat: (send: () => Promise<Response>, path: string) => Promise<Response>, options: Partial<ClientOptions> = {}) {
  const paths: string[] = [];
  const client = createClient({
    baseUrl,
    fetch: (input, init) => {
      const { pathname } = new URL(String(input));
      paths.push(pathname);
      return treat(() => fetch(input, init), pathname);
    },
    ...options,
  });
  return { client, paths };
}

const answered = (status: number, body: object, headers: Record<string, string> = {}) =>
  Promise.resolve(new Response(JSON.stringify(body), { status, headers }));

const ada = await workshop.createCustomer({ name: "Ada", email: "ada@example.com", newsletter: true });

await step("create, get, change and delete records", async () => {
  equal([ada.name, ada.phone], ["Ada", null]);
  const bicycle = await workshop.registerBicycle({ owner: { id: ada.id }, brand: "Swift", frameNumber: "G-1", kind: "City" });
  equal((await workshop.findBicycle({ frameNumber: "G-1" }))?.id, bicycle.id);
  equal(await workshop.findBicycle({ frameNumber: "none" }), null);
  const changed = await workshop.updateCustomer({ where: { id: ada.id }, values: { phone: "030 1234", email: null } });
  equal([changed.phone, changed.email], ["030 1234", null]);
  const gone: string = await workshop.scrapBicycle({ id: bicycle.id });
  equal(gone, bicycle.id);
});

await step("page through a list", async () => {
  for (let n = 1; n <= 5; n++) {
    await workshop.registerBicycle({ owner: { id: ada.id }, brand: "Swift", frameNumber: `P-${n}`, kind: n % 2 ? "City" : "Cargo" });
  }
  const seen: string[] = [];
  for await (const bicycle of workshop.listBicycles.all({ where: { brand: { startsWith: "sw" } }, first: 2 })) seen.push(bicycle.frameNumber);
  equal(seen.sort(), ["P-1", "P-2", "P-3", "P-4", "P-5"]);
  const sizes: number[] = [];
  for await (const page of workshop.listBicycles.pages({ where: { kind: { equals: "City" } }, first: 2 })) sizes.push(page.pageInfo.count);
  equal(sizes, [2, 1]);
  const { client, paths } = through((send) => send());
  for await (const bicycle of client.listBicycles.all({ first: 2 })) if (bicycle) break;
  equal(paths.length, 1); // a page that is not needed is not read
  equal((await workshop.listBicycles({ limit: 2, offset: 4, totalCount: true })).pageInfo.totalCount, 5);
  equal((await workshop.listBicycles()).results.length, 5);
  equal((await tablet.listOrders({ where: { state: { equals: "Received" } } })).results, []);
});

await step("read what an action selects, and no more", async () => {
  const bicycle = some((await workshop.listBicycles({ first: 1 })).results[0]);
  const order = await workshop.openOrder({ number: "B-1", bicycle: { id: bicycle.id }, complaint: "squeaks" });
  await workshop.addItem({ order: { id: order.id }, what: "oil" });
  const [row] = (await tablet.listBoard({ where: { state: { equals: "Received" } } })).results;
  const { number, promisedFor, items, mechanic } = some(row);
  const brand: string = some(row).bicycle.brand;
  const owner: string = some(row).bicycle.owner.name;
  const hired: string | undefined = mechanic?.name;
  equal([number, promisedFor, brand, owner, hired, items.map((item) => item.what)], ["B-1", null, bicycle.brand, "Ada", undefined, ["oil"]]);
  // @ts-expect-error the board does not show it
  equal(some(row).complaint, undefined);
  // @ts-expect-error nor that of a bicycle
  equal(some(row).bicycle.frameNumber, undefined);
});

await step("tell errors apart", async () => {
  const error = await failure(workshop.registerBicycle({ owner: { id: ada.id }, brand: "Swift", frameNumber: "P-1", kind: "City" }));
  equal([error.code, error.status, error.data?.errors], ["ERR_INVALID_INPUT", 400, [{ field: "frameNumber", code: "unique", params: { fields: ["frameNumber"] }, error: "must be unique" }]]);
  equal([error.name, error.requestId?.length], ["ApiError", 32]);
  equal((await failure(workshop.hireMechanic({ name: "Grace" }))).code, "ERR_PERMISSION_DENIED");
  equal((await failure(workshop.scrapBicycle({ id: "none" }))).code, "ERR_RECORD_NOT_FOUND");
  const zone = await failure(workshop.listBicycles({}, { timeZone: "Nowhere/Land" }));
  equal([zone.code, zone.message], ["ERR_INPUT_MALFORMED", "invalid Time-Zone header: unknown time zone Nowhere/Land"]);
});

await step("write once, though the answer is lost", async () => {
  let lost = 0;
  const losing = through(async (send) => {
    const response = await send();
    if (lost++ < 2) throw new TypeError("the line broke");
    return response;
  });
  const grace = await losing.client.createCustomer({ name: "Grace" });
  equal([losing.paths.length, (await workshop.listCustomers({ where: { name: { equals: "Grace" } } })).results.map((c) => c.id)], [3, [grace.id]]);

  const dead = through(() => Promise.reject(new TypeError("no line")), { retries: 1 });
  const error = await failure(dead.client.createCustomer({ name: "Nobody" }));
  equal([error.code, error.status, String(error.cause), dead.paths.length], ["ERR_NO_ANSWER", 0, "TypeError: no line", 2]);
});

await step("repeat what is safe to repeat, and nothing else", async () => {
  const refusal = (code: string) => ({ code, message: code });
  const tries = async (retries: number, answer: () => Promise<Response>, call: (client: typeof workshop) => Promise<unknown>) => {
    const { client, paths } = through(answer, { retries });
    const error = await failure(call(client));
    return `${error.code} ${paths.length}`;
  };
  const create = (client: typeof workshop) => client.createCustomer({ name: "Twice" });
  const read = (client: typeof workshop) => client.listCustomers();
  const reset = (client: typeof workshop) => client.verifyEmail({ token: "x" }); // takes no Idempotency-Key
  const busy = () => answered(503, refusal("ERR_UNAVAILABLE"), { "Retry-After": "0" });
  const unknown = () => answered(503, refusal("ERR_OUTCOME_UNKNOWN"));
  const broken = () => Promise.reject(new TypeError("no line"));
  const gateway = () => Promise.resolve(new Response("<h1>Bad gateway</h1>", { status: 502 }));
  equal(await tries(2, busy, create), "ERR_UNAVAILABLE 3");
  equal(await tries(2, busy, read), "ERR_UNAVAILABLE 3");
  equal(await tries(2, busy, reset), "ERR_UNAVAILABLE 3");
  equal(await tries(1, unknown, create), "ERR_OUTCOME_UNKNOWN 2");
  equal(await tries(1, unknown, reset), "ERR_OUTCOME_UNKNOWN 1");
  equal(await tries(1, broken, read), "ERR_NO_ANSWER 2");
  equal(await tries(1, broken, reset), "ERR_NO_ANSWER 1");
  equal(await tries(0, broken, create), "ERR_NO_ANSWER 1");
  equal(await tries(1, gateway, create), "ERR_UNEXPECTED_ANSWER 2");
  equal(await tries(1, gateway, reset), "ERR_UNEXPECTED_ANSWER 1");
  equal(await tries(2, () => answered(504, refusal("ERR_TIMEOUT")), create), "ERR_TIMEOUT 1");
  equal(await tries(2, () => answered(409, refusal("ERR_CONFLICT")), create), "ERR_CONFLICT 1");
  equal(await tries(2, () => answered(429, refusal("ERR_RATE_LIMITED"), { "Retry-After": "900" }), create), "ERR_RATE_LIMITED 1");
  equal(await tries(2, () => answered(503, refusal("ERR_UNAVAILABLE"), { "Retry-After": "900" }), read), "ERR_UNAVAILABLE 1");
  equal(await tries(2, () => Promise.resolve(new Response("fine")), read), "ERR_UNEXPECTED_ANSWER 1");

  let first = true; // the try that broke off is still running
  const waiting = through(() => {
    if (!first) return answered(504, refusal("ERR_TIMEOUT"));
    first = false;
    return broken();
  });
  equal([(await failure(create(waiting.client))).code, waiting.paths.length], ["ERR_TIMEOUT", 3]);
});

await step("name a call by oneself", async () => {
  const options = { idempotencyKey: "own-key-1" };
  const once = await workshop.createCustomer({ name: "Once" }, options);
  equal((await workshop.createCustomer({ name: "Once" }, options)).id, once.id);
  equal((await failure(workshop.createCustomer({ name: "Other" }, options))).code, "ERR_IDEMPOTENCY_KEY_REUSED");
});

await step("end a call", async () => {
  const over = AbortSignal.abort(new Error("enough"));
  equal(await workshop.listCustomers({}, { signal: over }).catch(String), "Error: enough");
  const control = new AbortController();
  const slow = through(() => new Promise<Response>((_, reject) => control.signal.addEventListener("abort", () => reject(control.signal.reason))));
  const call = slow.client.listCustomers({}, { signal: control.signal });
  setTimeout(() => control.abort(new Error("too slow")), 10);
  equal(await call.catch(String), "Error: too slow");
  const pausing = through(() => answered(503, { code: "ERR_UNAVAILABLE", message: "" }, { "Retry-After": "9" }));
  equal(await pausing.client.listCustomers({}, { signal: AbortSignal.timeout(20) }).catch((e: Error) => e.name), "TimeoutError");
});

await step("send files", async () => {
  const { id } = await workshop.registerBicycle({ owner: { id: ada.id }, brand: "Photo", frameNumber: "F-1", kind: "City" });
  const content = new Uint8Array([1, 2, 3]);
  const told: number[] = [];
  const key = await workshop.upload("photographBicycle", "photos", new Blob([content], { type: "image/png" }), {
    filename: "front ü.png",
    onProgress: ({ loaded, total }) => told.push(loaded, total),
  });
  equal(told, [3, 3]);
  const inline = await dataUrl(new Blob(["Zürich"], { type: "image/jpeg" }), { filename: "in line ü.jpg" });
  const empty = await workshop.upload("photographBicycle", "photos", new Blob([], { type: "image/png" }), { filename: "empty.png" });
  const { photos } = await workshop.photographBicycle({ where: { id }, values: { photos: [key, inline, empty] } });
  equal(photos.map((p) => `${p.filename} ${p.contentType} ${p.size}`), ["front ü.png image/png 3", "in line ü.jpg image/jpeg 7", "empty.png image/png 0"]);
  equal([...new Uint8Array(await (await fetch(some(photos[0]).url)).arrayBuffer())], [1, 2, 3]);
  equal(await (await fetch(some(photos[1]).url)).text(), "Zürich");
  const text = await failure(workshop.upload("photographBicycle", "photos", new Blob(["x"], { type: "text/plain" }), { filename: "x.txt" }));
  equal(text.data?.errors, [{ field: "contentType", code: "contentType", params: { given: "text/plain", accepted: ["image/*"] }, error: "content type text/plain is not accepted" }]);
  equal(await workshop.upload("photographBicycle", "photos", new Blob(["x"])).catch(String), "Error: the file has no name: set the option filename");
  let puts = 0;
  const shaky = through(async (send, path) => {
    if (path.startsWith("/storage/") && puts++ === 0) throw new TypeError("the line broke");
    return send();
  });
  const again = await shaky.client.upload("photographBicycle", "photos", new Blob([content], { type: "image/png" }), { filename: "again.png" });
  equal([puts, (await workshop.photographBicycle({ where: { id }, values: { photos: [again] } })).photos.map((p) => p.size)], [2, [3]]);
  const refusing = through((send, path) => (path.startsWith("/storage/") ? answered(403, {}) : send()));
  const refused = await failure(refusing.client.upload("photographBicycle", "photos", new Blob(["x"], { type: "image/png" }), { filename: "x.png" }));
  equal([refused.code, refused.status], ["ERR_UPLOAD_REFUSED", 403]);
});

await step("read what was written, where replicas answer", async () => {
  const sent: (string | undefined)[] = [];
  const positions = ["0/FFFFFFF0", "1/10", "0/20"];
  const client = createClient({
    baseUrl,
    fetch: (input, init) => {
      const isWrite = String(input).endsWith("createCustomer");
      if (!isWrite) sent.push(new Headers(init?.headers).get("Sternpost-Position") ?? undefined);
      return isWrite ? answered(200, ada, { "Sternpost-Position": positions.shift() ?? "" }) : answered(200, { results: [], pageInfo: { hasNextPage: false } });
    },
  });
  await client.listCustomers();
  for (let n = 0; n < 3; n++) {
    await client.createCustomer({ name: "Ada" });
    await client.listCustomers();
  }
  await client.listCustomers({}, { headers: { "Sternpost-Position": "0/1" } });
  equal(sent, [undefined, "0/FFFFFFF0", "1/10", "1/10", "0/1"]);
});
