// Requests: one try each, and as many as are safe.

import { ServiceError, readRefusal, unexpectedAnswer } from "./errors.js";
import { type SignInStorage, pause, reasonOf } from "./surroundings.js";

/** How a client is set up. */
export interface ClientOptions {
  /** The address of the service, as its own settings have it: https://api.example.com. */
  baseUrl: string;
  /** Where the sign-in is kept: localStorage where there is one, else the memory of the program. */
  storage?: SignInStorage;
  /** What sends requests, if not the global fetch. */
  fetch?: typeof globalThis.fetch;
  /** Headers of every call. One of the name Authorization takes the place of the sign-in. */
  headers?: Record<string, string>;
  /** The IANA name of the zone in which relative dates are meant: Europe/Berlin. Without it they are meant in UTC. */
  timeZone?: string;
  /** How often a call is tried again where that is safe: 2. */
  retries?: number;
}

/** How one call is made. */
export interface CallOptions {
  /** Ends the call. */
  signal?: AbortSignal;
  /** Further headers. */
  headers?: Record<string, string>;
  /** In place of the client's. */
  timeZone?: string;
  /** Names a writing call, so that it is carried out once. By itself the client makes such a name for all tries of a call. */
  idempotencyKey?: string;
}

/** Whether a request may be sent again: always, or only where it is known not to have been carried out. */
type Repeatable = "always" | "if refused";

interface ServiceRequest {
  url: string;
  method: "GET" | "POST";
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal | undefined;
  /** Is given the headers of what is answered. */
  heard?: (headers: Headers) => void;
}

const longestPause = 10_000;

/** Sends one request and reads what is answered. */
async function sendOnce<T>(fetch: typeof globalThis.fetch, { url, signal, heard, ...request }: ServiceRequest): Promise<T> {
  const init: RequestInit = request;
  if (signal !== undefined) init.signal = signal;
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (cause) {
    throw signal?.aborted ? reasonOf(signal) : noAnswer(cause);
  }
  if (!response.ok) throw await readRefusal(response);
  heard?.(response.headers);
  let text: string;
  try {
    text = await response.text();
  } catch (cause) {
    throw signal?.aborted ? reasonOf(signal) : noAnswer(cause);
  }
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw unexpectedAnswer(response.status, { cause });
  }
}

function noAnswer(cause: unknown): ServiceError {
  return new ServiceError("ERR_NO_ANSWER", 0, "the service could not be reached, or broke off", { cause });
}

/** Tries until it works, as often and as long as is safe and makes sense. */
async function persist<T>(retries: number, repeatable: Repeatable, signal: AbortSignal | undefined, send: () => Promise<T>): Promise<T> {
  let isOutcomeUnknown = false; // of a try before
  for (let tries = 0; ; tries++) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof ServiceError) || tries >= retries) throw error;
      const wait = error.retryAfter === undefined ? 250 * 2 ** tries * (0.5 + Math.random()) : error.retryAfter * 1000;
      if (wait > longestPause || !isWorthRepeating(error, repeatable, isOutcomeUnknown)) throw error;
      isOutcomeUnknown ||= error.code !== "ERR_UNAVAILABLE";
      await pause(wait, signal);
    }
  }
}

/** Tells whether a request may be sent again after an error, and may then do better. */
function isWorthRepeating(error: ServiceError, repeatable: Repeatable, isOutcomeUnknown: boolean): boolean {
  switch (error.code) {
    case "ERR_UNAVAILABLE": // it was not carried out
      return true;
    case "temporarily_unavailable": // nor was this; with 429 it would be counted
      return error.status === 503;
    case "ERR_NO_ANSWER":
    case "ERR_OUTCOME_UNKNOWN":
      return repeatable === "always";
    case "ERR_UNEXPECTED_ANSWER": // of a proxy in between
      return repeatable === "always" && [502, 503, 504].includes(error.status);
    case "ERR_TIMEOUT": // perhaps in the wait for an earlier try that is still running
      return repeatable === "always" && isOutcomeUnknown;
  }
  return false;
}

export { noAnswer, persist, type Repeatable, sendOnce, type ServiceRequest };
