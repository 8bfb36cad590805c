// A client of the clinic, written from its descriptions alone.

import createClient from "openapi-fetch";

import { baseUrl, equal, signedIn, some, step } from "./program.js";
import type { components, paths } from "./clinic-api.js";
import type { paths as DeskPaths } from "./clinic-desk.js";

type Schemas = components["schemas"];

const clinic = createClient<paths>({ baseUrl, headers: signedIn });
const desk = createClient<DeskPaths>({ baseUrl, headers: signedIn });

let patient: Schemas["Patient"];
let invoice: Schemas["Invoice"];

await step("open a practice, but one only", async () => {
  const body = { name: "Ada and Colleagues", members: [{ name: "Ada" }] };
  const opened = await clinic.POST("/api/json/openPractice", { body });
  equal(some(opened.data, opened.error).name, "Ada and Colleagues");
  const again = await clinic.POST("/api/json/openPractice", { body: { ...body, name: "Another" } });
  equal([again.response.status, again.error?.code], [403, "ERR_PERMISSION_DENIED"]);
});

await step("add a patient with a contact", async () => {
  const body = { number: "P-1", name: "Linus", contacts: [{ name: "Nina", phone: "030 1234" }] };
  const added = await clinic.POST("/api/json/addPatient", { body });
  patient = some(added.data, added.error);
  const found = await desk.POST("/desk/json/getPatient", { body: { id: patient.id } });
  equal(some(found.data, found.error).contacts.map((c) => c.name), ["Nina"]);
  const twice = await desk.POST("/desk/json/addPatient", { body });
  equal(some(twice.error).data?.errors, [
    { field: "number", code: "unique", params: { fields: ["practiceId", "number"] }, error: "(practiceId, number) must be unique" },
  ]);
});

await step("invoice a service", async () => {
  const service = await clinic.POST("/api/json/addService", { body: { name: "Check-up", minutes: 20, price: 40.25 } });
  const drafted = await clinic.POST("/api/json/draftInvoice", {
    body: { patient: { id: patient.id }, issuedOn: "2026-03-30" },
  });
  invoice = some(drafted.data, drafted.error);
  equal(invoice.number, "INV-0001");
  const { id } = some(service.data, service.error);
  const line = await clinic.POST("/api/json/addLine", {
    body: { invoice: { id: invoice.id }, service: { id }, quantity: 2, discount: 10 },
  });
  equal(some(line.data, line.error).total, 72.45);
  const read = await clinic.POST("/api/json/getInvoice", { body: { id: invoice.id } });
  equal([some(read.data, read.error).total, read.data?.lines.length], [72.45, 1]);
});

await step("see nothing of an invoice that is not there", async () => {
  const { data, response } = await clinic.POST("/api/json/getInvoice", { body: { id: "of-another-practice" } });
  equal([response.status, data], [200, null]);
});

await step("change no invoice that was sent", async () => {
  const sent = await clinic.POST("/api/json/sendInvoice", { body: { where: { id: invoice.id } } });
  equal(some(sent.data, sent.error).state, "Sent");
  const again = await clinic.POST("/api/json/sendInvoice", { body: { where: { id: invoice.id } } });
  equal(again.response.ok, false);
});
