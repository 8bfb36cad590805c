// A client of the workshop, written from its description alone.

import createClient from "openapi-fetch";

import { baseUrl, equal, every, signedIn, some, step } from "./program.js";
import type { components, paths } from "./workshop-api.js";
import type { paths as TabletPaths } from "./workshop-tablet.js";

type Schemas = components["schemas"];
type Customer = Schemas["Customer"];
type Kind = Schemas["BicycleKind"];

const workshop = createClient<paths>({ baseUrl });
const tablet = createClient<TabletPaths>({ baseUrl });

let ada: Customer;

await step("create a record", async () => {
  const { data, error } = await workshop.POST("/api/json/createCustomer", {
    body: { name: "Ada", email: "ada@example.com", newsletter: true },
  });
  ada = some(data, error);
  equal([ada.name, ada.email, ada.phone, ada.newsletter], ["Ada", "ada@example.com", null, true]);
  const phone: string | null = ada.phone;
  equal(phone, null);
});

await step("create a record once, however often it is sent", async () => {
  const send = () =>
    workshop.POST("/api/json/createCustomer", {
      params: { header: { "Idempotency-Key": "5b0c2a4e-grace" } },
      body: { name: "Grace" },
    });
  const first = await send();
  const again = await send();
  equal(some(again.data, again.error).id, some(first.data, first.error).id);
  equal(first.response.headers.get("Idempotent-Replayed"), null);
  equal(again.response.headers.get("Idempotent-Replayed"), "true");
  const other = await workshop.POST("/api/json/createCustomer", {
    params: { header: { "Idempotency-Key": "5b0c2a4e-grace" } },
    body: { name: "Hopper" },
  });
  equal([other.response.status, other.error?.code], [422, "ERR_IDEMPOTENCY_KEY_REUSED"]);
  await workshop.POST("/api/json/deleteCustomer", { body: { id: some(first.data, first.error).id } });
});

await step("create records that belong to one", async () => {
  for (const [frameNumber, kind, gears] of [["F-1", "City", 7], ["F-2", "Cargo", 3], ["F-3", "City", 21]] as const) {
    const { data, error } = await workshop.POST("/api/json/registerBicycle", {
      body: { owner: { id: ada.id }, brand: "Swift", frameNumber, kind, gears, colours: ["red"] },
    });
    const registered: Kind = some(data, error).kind;
    equal(registered, kind);
  }
});

await step("get a record, or nothing", async () => {
  const found = await workshop.POST("/api/json/findBicycle", { body: { frameNumber: "F-1" } });
  equal(some(found.data, found.error).ownerId, ada.id);
  const missing = await workshop.POST("/api/json/findBicycle", { body: { frameNumber: "none" } });
  equal(missing.data, null);
});

await step("list with filters, page by page", async () => {
  const seen: string[] = [];
  let after: string | undefined;
  do {
    const { data, error } = await workshop.POST("/api/json/listBicycles", {
      headers: { "Time-Zone": "Europe/Berlin" },
      body: {
        where: {
          owner: { id: { equals: ada.id } },
          brand: { startsWith: "sw" },
          kind: { oneOf: ["City", "Electric"] },
          gears: { greaterThan: 1 },
          colours: { any: { equals: "red" } },
        },
        first: 1,
        totalCount: true,
        ...(after === undefined ? {} : { after }),
      },
    });
    const page = some(data, error);
    equal(page.pageInfo.totalCount, 2);
    seen.push(...page.results.map((b) => b.frameNumber));
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : undefined;
  } while (after !== undefined);
  equal(seen.sort(), ["F-1", "F-3"]);
});

await step("list without a body", async () => {
  const { data, error } = await workshop.POST("/api/json/listCustomers");
  equal(some(data, error).results.length, 1);
});

await step("change a record", async () => {
  const { data, error } = await workshop.POST("/api/json/updateCustomer", {
    body: { where: { id: ada.id }, values: { phone: "030 1234", email: null } },
  });
  const changed = some(data, error);
  equal([changed.phone, changed.email], ["030 1234", null]);
});

await step("tell errors apart by their code", async () => {
  const twice = await workshop.POST("/api/json/registerBicycle", {
    body: { owner: { id: ada.id }, brand: "Swift", frameNumber: "F-1", kind: "Road" },
  });
  const error = some(twice.error);
  switch (error.code) {
    case "ERR_INVALID_INPUT":
      equal(error.data?.errors, [{ field: "frameNumber", code: "unique", params: { fields: ["frameNumber"] }, error: "must be unique" }]);
      break;
    case "ERR_CONFLICT":
    case "ERR_INPUT_MALFORMED":
    case "ERR_AUTHENTICATION_FAILED":
    case "ERR_PERMISSION_DENIED":
    case "ERR_SECOND_FACTOR":
    case "ERR_HTTP_METHOD_NOT_ALLOWED":
    case "ERR_REQUEST_TOO_LARGE":
    case "ERR_UNSUPPORTED_MEDIA_TYPE":
    case "ERR_INTERNAL":
    case "ERR_UNAVAILABLE":
    case "ERR_OUTCOME_UNKNOWN":
    case "ERR_IDEMPOTENCY_KEY_REUSED":
    case "ERR_RATE_LIMITED":
    case "ERR_TIMEOUT":
      throw error;
    default:
      every(error);
  }
});

await step("be refused, and then not", async () => {
  const hire = { name: "Grace", skills: ["wheels"] };
  const refused = await workshop.POST("/api/json/hireMechanic", { body: hire });
  equal([refused.response.status, refused.error?.code], [403, "ERR_PERMISSION_DENIED"]);
  const hired = await workshop.POST("/api/json/hireMechanic", { body: hire, headers: signedIn });
  equal(some(hired.data, hired.error).skills, ["wheels"]);
});

await step("sign in", async () => {
  const response = await fetch(`${baseUrl}/auth/token`, {
    method: "POST",
    body: new URLSearchParams({ grant_type: "password", username: "grace@example.com", password: "correct horse battery" }),
  });
  const { access_token } = (await response.json()) as { access_token: string };
  const mine = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${access_token}` } });
  const { data, error } = await mine.POST("/api/json/hireMechanic", { body: { name: "Margaret" } });
  equal(some(data, error).name, "Margaret");
});

await step("send a file ahead of the call that takes it", async () => {
  const found = await workshop.POST("/api/json/findBicycle", { body: { frameNumber: "F-1" } });
  const { id } = some(found.data);
  const minted = await workshop.POST("/api/json/photographBicycle/upload/photos", {
    body: { filename: "bicycle.png", contentType: "image/png", size: 3 },
  });
  const { key, url, headers } = some(minted.data, minted.error);
  const sent = await fetch(url, { method: "PUT", headers: { "Content-Type": some(headers["Content-Type"]) }, body: new Uint8Array([1, 2, 3]) });
  equal(sent.status, 200);
  const taken = await workshop.POST("/api/json/photographBicycle", { body: { where: { id }, values: { photos: [key] } } });
  const [photo] = some(taken.data, taken.error).photos;
  equal([photo?.filename, photo?.contentType, photo?.size], ["bicycle.png", "image/png", 3]);
  const content = await fetch(some(photo?.url));
  equal(new Uint8Array(await content.arrayBuffer()), new Uint8Array([1, 2, 3]));
  const again = await workshop.POST("/api/json/photographBicycle", { body: { where: { id }, values: { photos: [key] } } });
  equal(some(again.error).data?.errors, [{ field: "values.photos.0", code: "upload", error: "is not an upload key for this input" }]);
});

await step("delete a record", async () => {
  const found = await workshop.POST("/api/json/findBicycle", { body: { frameNumber: "F-2" } });
  const { id } = some(found.data);
  const deleted = await workshop.POST("/api/json/scrapBicycle", { body: { id } });
  const gone: string = some(deleted.data, deleted.error);
  equal(gone, id);
  const again = await workshop.POST("/api/json/scrapBicycle", { body: { id } });
  equal(again.error?.code, "ERR_RECORD_NOT_FOUND");
});

await step("call a smaller API", async () => {
  const { data, error } = await tablet.POST("/tablet/json/listOrders", { body: { where: { state: { equals: "Received" } } } });
  equal(some(data, error).results, []);
});

/** Calls that the compiler must refuse. It is never called. */
export async function mistakes(): Promise<void> {
  // @ts-expect-error: the name is required
  await workshop.POST("/api/json/createCustomer", { body: { email: "x" } });
  // @ts-expect-error: a body is required
  await workshop.POST("/api/json/createCustomer");
  // @ts-expect-error: the input does not exist
  const create: Schemas["CreateCustomerInput"] = { name: "x", nickname: "y" };
  await workshop.POST("/api/json/createCustomer", { body: create });
  // @ts-expect-error: the enum does not have this value
  await workshop.POST("/api/json/listBicycles", { body: { where: { kind: { equals: "Tandem" } } } });
  // @ts-expect-error: a name does not have this operator
  const where: Schemas["ListCustomersWhere"] = { name: { greaterThan: "A" } };
  await workshop.POST("/api/json/listCustomers", { body: { where } });
  // @ts-expect-error: the name is never null
  await workshop.POST("/api/json/listCustomers", { body: { where: { name: { equals: null } } } });
  await workshop.POST("/api/json/listCustomers", { body: { where: { phone: { equals: null } } } });
  // @ts-expect-error: the action does not exist
  await workshop.POST("/api/json/listCustomer", {});
  // @ts-expect-error: the small API does not have it
  await tablet.POST("/tablet/json/createCustomer", { body: { name: "x" } });
}
