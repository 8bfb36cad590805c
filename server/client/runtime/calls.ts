// Calls of actions.

import { ServiceError, signInEnded } from "./errors.js";
import { type CallOptions, type ClientOptions, type Repeatable, type ServiceRequest, persist, sendOnce } from "./requests.js";
import { type KeptSignIn, SignIns, type TokenAnswer } from "./signin.js";
import { unlessAborted, uniqueName } from "./surroundings.js";

type Call<Input, Result> = (input?: Input, options?: CallOptions) => Promise<Result>;

/** A page of any list. */
interface AnyPage {
  results: unknown[];
  pageInfo: { endCursor: string; hasNextPage: boolean };
}

type RowOf<Page extends AnyPage> = Awaited<Page["results"][number]>;

/** The input of a list that is read to its end: first is the size of each page. */
export type WholeList<Input> = Omit<Input, "first" | "after" | "last" | "before" | "limit" | "offset"> & {
  first?: number;
  after?: string;
};

interface ListCall<Input, Page extends AnyPage> {
  (input?: Input, options?: CallOptions): Promise<Page>;
  pages(input?: WholeList<Input>, options?: CallOptions): AsyncGenerator<Page, void, undefined>;
  all(input?: WholeList<Input>, options?: CallOptions): AsyncGenerator<RowOf<Page>, void, undefined>;
}

/** A run of a job. */
export interface RunOfJob {
  run: string;
  state: "waiting" | "running" | "succeeded" | "failed" | "cancelled";
  startedAt: string | null;
  finishedAt: string | null;
  attempts: number;
  /** What the code has returned. */
  result: unknown;
  /** Why it failed, or is tried again. */
  message: string | null;
}

/** An object with exactly one of several members. */
type ExactlyOne<T> = { [K in keyof T]-?: { [P in K]-?: T[P] } & { [P in Exclude<keyof T, K>]?: never } }[keyof T];

/** One API of a service. */
class ServiceApi {
  readonly signIns: SignIns;
  readonly fetch: typeof globalThis.fetch;
  readonly #address: string;
  readonly #options: ClientOptions;
  #position = ""; // the position of the last write in the database's log; empty if the server does not tell it

  constructor(path: string, options: ClientOptions) {
    const baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.signIns = new SignIns(baseUrl, this.fetch, options);
    this.#address = `${baseUrl}/${path}/json/`;
    this.#options = options;
  }

  get retries(): number {
    return this.#options.retries ?? 2;
  }

  /** An action that only reads. It sees the writes of this client, even if the server reads from a replica. */
  reads<Input, Result>(action: string): Call<Input, Result> {
    return (input, options = {}) => {
      const headers = this.#position === "" ? options.headers : { [positionHeader]: this.#position, ...options.headers };
      return this.call(action, input, { ...options, ...(headers === undefined ? {} : { headers }) }, "always");
    };
  }

  /** Keeps the latest position of all responses. */
  #heard = (headers: Headers): void => {
    const position = headers.get(positionHeader) ?? "";
    if (placeOf(position) > placeOf(this.#position)) this.#position = position;
  };

  /** An action that writes. One key for all tries makes sure that it is carried out once. */
  writes<Input, Result>(action: string): Call<Input, Result> {
    return (input, options = {}) => {
      const idempotencyKey = options.idempotencyKey ?? (this.retries > 0 ? uniqueName() : undefined);
      if (idempotencyKey === undefined) return this.call(action, input, options, "if refused");
      return this.call(action, input, { ...options, headers: { ...options.headers, "Idempotency-Key": idempotencyKey } }, "always");
    };
  }

  /** An action that writes and takes no idempotency key. */
  writesUnnamed<Input, Result>(action: string): Call<Input, Result> {
    return (input, options) => this.call(action, input, options, "if refused");
  }

  /** The acceptance of an invitation, whose answer begins a sign-in here. */
  accepts<Input, Result>(action: string): Call<Input, Result> {
    return async (input, options) => {
      const answer = await this.call<Result>(action, input, options, "if refused");
      await this.signIns.accepted(answer as TokenAnswer);
      return answer;
    };
  }

  /** The start of a job. */
  starts<Input, Result>(action: string): Call<Input, Result> & { run(id: string, options?: CallOptions): Promise<RunOfJob> } {
    const run = (id: string, options?: CallOptions) => this.call<RunOfJob>(`${action}?run=${encodeURIComponent(id)}`, undefined, options, "always", "GET");
    return Object.assign(this.writes<Input, Result>(action), { run });
  }

  /** A list. */
  lists<Input, Page extends AnyPage>(action: string): ListCall<Input, Page> {
    const call = this.reads<WholeList<Input>, Page>(action);
    async function* pages(input?: WholeList<Input>, options?: CallOptions): AsyncGenerator<Page, void, undefined> {
      let next = input;
      for (;;) {
        const page = await call(next, options);
        yield page;
        if (!page.pageInfo.hasNextPage) return;
        next = { ...(next ?? ({} as WholeList<Input>)), after: page.pageInfo.endCursor };
      }
    }
    async function* all(input?: WholeList<Input>, options?: CallOptions): AsyncGenerator<RowOf<Page>, void, undefined> {
      for await (const page of pages(input, options)) yield* page.results as RowOf<Page>[];
    }
    return Object.assign(this.reads<Input, Page>(action), { pages, all });
  }

  /** Calls an action, or a route below it, as the signed-in identity. */
  async call<Result>(action: string, input: unknown, options: CallOptions = {}, repeatable: Repeatable, method: "GET" | "POST" = "POST"): Promise<Result> {
    const { signal } = options;
    const headers: Record<string, string> = { "Content-Type": "application/json", ...this.#options.headers, ...options.headers };
    const timeZone = options.timeZone ?? this.#options.timeZone;
    if (timeZone !== undefined) headers["Time-Zone"] = timeZone;
    const request: ServiceRequest = { url: this.#address + action, method, headers, signal, heard: this.#heard };
    if (method === "POST") request.body = JSON.stringify(input ?? {});
    if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) {
      return persist(this.retries, repeatable, signal, () => sendOnce<Result>(this.fetch, request));
    }
    let caller: string | null | undefined; // the same in all tries
    return persist(this.retries, repeatable, signal, async () => {
      let signIn = await unlessAborted(this.signIns.fresh(), signal);
      if (caller !== undefined && caller !== (signIn?.id ?? null)) throw signInEnded(undefined);
      caller = signIn?.id ?? null;
      if (signIn === null) return sendOnce<Result>(this.fetch, request);
      const send = (accessToken: string) =>
        sendOnce<Result>(this.fetch, { ...request, headers: { ...headers, Authorization: `Bearer ${accessToken}` } });
      const { signIns } = this;
      const remedies: Record<string, ((signIn: KeptSignIn, error: ServiceError) => Promise<KeptSignIn>)[]> = {
        ERR_AUTHENTICATION_FAILED: [signIns.refresh],
        ERR_SECOND_FACTOR: [signIns.refresh, signIns.raise], // the token may be older than what was shown
      };
      for (;;) {
        try {
          return await send(signIn.accessToken);
        } catch (error) {
          const remedy = error instanceof ServiceError ? remedies[error.code]?.shift() : undefined;
          if (remedy === undefined) throw error;
          signIn = await unlessAborted(remedy.call(signIns, signIn, error as ServiceError), signal);
        }
      }
    });
  }
}

const positionHeader = "Sternpost-Position";

/** A position, such as 16/B374D848, in a form that sorts in the order of the log. */
function placeOf(position: string): string {
  return position.split("/").map((half) => half.toUpperCase().padStart(8, "0")).join("/");
}

export { type ExactlyOne, ServiceApi };
