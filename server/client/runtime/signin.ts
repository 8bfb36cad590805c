// The signed-in identity, and the ways to sign in.

import { type FactorNeeded, ServiceError, factorData, signInEnded } from "./errors.js";
import { type PasskeyRequest, showPasskey } from "./passkeys.js";
import { type ClientOptions, type Credential, type CredentialRequest, type Repeatable, type ServiceRequest, persist, sendOnce } from "./requests.js";
import { sha256 } from "./sha256.js";
import { type SignInStorage, base64url, defaultStorage, exclusively, pause, randomBytes, surroundings, uniqueName } from "./surroundings.js";

/** The input of a sign-in by password. */
export interface PasswordSignIn {
  /** An e-mail address. */
  username: string;
  password: string;
  /** Whether to create an account for an unknown address; by default true. */
  createIfNotExists?: boolean;
}

/** The result of a sign-in. */
export interface SignedIn {
  /** Whether this sign-in created the account. */
  identityCreated: boolean;
}

/** A sign-in provider. */
export interface SignInProvider {
  name: string;
  type: string;
  authorizeUrl: string;
  callbackUrl: string;
}

/** The options of a sign-in through a provider. */
export interface RedirectOptions {
  /** The address where the sign-in ends: one of the service's auth.redirectUris. By default this page. */
  redirectUri?: string;
  /** Opens the provider's address for the user. In a browser, by default location.assign. */
  open?: (url: string) => unknown;
}

/** The sign-in, which is stored, and whose tokens are refreshed in time. */
export interface SignInActions {
  /** Signs in with a password. */
  signIn(signIn: PasswordSignIn): Promise<SignedIn>;

  /** Signs in with a passkey, which the browser lets the user choose. It throws what the browser throws if the user gives up. */
  signInWithPasskey(): Promise<SignedIn>;

  /** Begins a sign-in through a provider. Call finishSignIn at the address at which it ends. */
  signInWith(provider: string, options?: RedirectOptions): Promise<void>;

  /** Completes a sign-in through a provider, from the address where it ended; null at any other address. Default: this page. */
  finishSignIn(url?: string): Promise<SignedIn | null>;

  /** Signs in with an ID token that a provider issued to this application. */
  signInWithIdToken(idToken: string): Promise<SignedIn>;

  /** The sign-in providers of the service. */
  signInProviders(): Promise<SignInProvider[]>;

  /** Ends the sign-in here and at the server. If the server cannot be reached, it ends here and the call fails. */
  signOut(): Promise<void>;

  /** Whether a sign-in is stored here. */
  isSignedIn(): Promise<boolean>;

  /** The access token, for requests outside this client; null if nobody is signed in. */
  accessToken(): Promise<string | null>;

  /** Calls a listener after each sign-in and sign-out, in other tabs too. Returns a function that removes it. */
  onSignInChange(listener: (isSignedIn: boolean) => void): () => void;
}

/** A stored sign-in. */
interface KeptSignIn {
  id: string; // the same as long as the sign-in lasts
  accessToken: string;
  refreshToken: string;
  freshUntil: number; // the time to refresh the access token, in milliseconds of this machine's clock
}

/** A sign-in through a provider in progress. */
interface BegunSignIn {
  state: string;
  verifier: string;
  redirectUri: string;
  begunAt: number;
}

interface TokenAnswer {
  access_token: string;
  refresh_token?: string; // absent if a sign-in that goes on was raised
  expires_in: number;
  identity_created: boolean;
}

/** The lifetime of a sign-in in progress at the server. */
const begunFor = 600_000;

/** The longest time until this tab sees what another tab stored. */
const longestArrival = 1_000;

/** The sign-in of a client. It is read from storage each time, because other tabs change it too. */
class SignIns implements SignInActions {
  readonly #baseUrl: string;
  readonly #fetch: typeof globalThis.fetch;
  readonly #retries: number;
  readonly #storage: SignInStorage;
  readonly #key: string;
  readonly #listeners = new Set<(isSignedIn: boolean) => void>();
  readonly #ask: ClientOptions["askCredential"];
  #raising: Promise<KeptSignIn> | null = null; // calls that need it at once share one question

  constructor(baseUrl: string, fetch: typeof globalThis.fetch, { storage, retries, askCredential }: ClientOptions) {
    this.#baseUrl = baseUrl;
    this.#fetch = fetch;
    this.#retries = retries ?? 2;
    this.#storage = storage ?? defaultStorage();
    this.#key = `sternpost ${baseUrl}`;
    this.#ask = askCredential;
  }

  signIn = ({ username, password, createIfNotExists }: PasswordSignIn): Promise<SignedIn> => {
    const parameters: Record<string, string> = { grant_type: "password", username, password };
    if (createIfNotExists !== undefined) parameters["create_if_not_exists"] = String(createIfNotExists);
    return this.#begin(parameters);
  };

  signInWithPasskey = async (): Promise<SignedIn> => this.#begin({ grant_type: "passkey", credential: await this.#passkey() });

  signInWithIdToken = (idToken: string): Promise<SignedIn> =>
    this.#begin({ grant_type: "token_exchange", subject_token: idToken, subject_token_type: "id_token" });

  signInProviders = (): Promise<SignInProvider[]> => this.#send("GET", "/auth/providers", {}, "always");

  signInWith = async (provider: string, { redirectUri, open }: RedirectOptions = {}): Promise<void> => {
    const { location } = surroundings;
    const target = redirectUri ?? location?.href.split(/[?#]/, 1)[0];
    const go = open ?? (location === undefined ? undefined : (url: string) => location.assign(url));
    if (target === undefined || go === undefined) throw new Error("outside a browser, set redirectUri and open");
    const begun = { state: base64url(randomBytes(32)), verifier: base64url(randomBytes(32)), redirectUri: target, begunAt: Date.now() };
    await this.#keepBegun([...(await this.#begun()), begun]);
    const challenge = base64url(sha256(Uint8Array.from(begun.verifier, (letter) => letter.charCodeAt(0))));
    await go(
      `${this.#baseUrl}/auth/authorize/${encodeURIComponent(provider)}?` +
        formOf({ redirect_uri: target, state: begun.state, code_challenge: challenge, code_challenge_method: "S256" }),
    );
  };

  finishSignIn = async (url?: string): Promise<SignedIn | null> => {
    const address = url ?? surroundings.location?.href ?? "";
    const answer = parametersOf(address);
    const state = answer.get("state");
    if (state === undefined) return null;
    if (url === undefined) surroundings.history?.replaceState(surroundings.history.state, "", withoutAnswer(address));
    const all = await this.#begun();
    const begun = all.find((one) => one.state === state);
    if (begun === undefined || answer.get("iss") !== this.#baseUrl) {
      throw new ServiceError("ERR_SIGN_IN_NOT_BEGUN", 0, "this sign-in did not begin here, or began too long ago");
    }
    await this.#keepBegun(all.filter((one) => one !== begun));
    const error = answer.get("error");
    if (error !== undefined) throw new ServiceError(error, 0, answer.get("error_description") ?? error);
    return this.#begin({
      grant_type: "authorization_code",
      code: answer.get("code") ?? "",
      code_verifier: begun.verifier,
      redirect_uri: begun.redirectUri,
    });
  };

  signOut = async (): Promise<void> => {
    const known = await this.current();
    if (known === null) return;
    await exclusively(`sternpost ${known.id}`, async () => {
      const last = await this.current();
      if (last?.id !== known.id) return;
      await this.#keep(null);
      await this.#send("POST", "/auth/revoke", { token: last.refreshToken }, "always");
    });
  };

  isSignedIn = async (): Promise<boolean> => (await this.current()) !== null;

  accessToken = async (): Promise<string | null> => (await this.fresh())?.accessToken ?? null;

  onSignInChange = (listener: (isSignedIn: boolean) => void): (() => void) => {
    const fromOtherTab = async (event: { key: string | null }) => {
      if (event.key === this.#key || event.key === null) listener(await this.isSignedIn());
    };
    this.#listeners.add(listener);
    surroundings.addEventListener?.("storage", fromOtherTab);
    return () => {
      this.#listeners.delete(listener);
      surroundings.removeEventListener?.("storage", fromOtherTab);
    };
  };

  /** The stored sign-in; null if nobody is signed in. */
  async current(): Promise<KeptSignIn | null> {
    const kept = read<KeptSignIn>(await this.#storage.getItem(this.#key));
    return typeof kept?.id === "string" && typeof kept.accessToken === "string" ? kept : null;
  }

  /** The sign-in, with an access token that does not expire soon. */
  async fresh(): Promise<KeptSignIn | null> {
    const known = await this.current();
    return known === null || known.freshUntil > Date.now() ? known : this.refresh(known);
  }

  /** Refreshes an access token, unless another tab did. It throws if the sign-in has ended. */
  refresh(stale: KeptSignIn): Promise<KeptSignIn> {
    return exclusively(`sternpost ${stale.id}`, async (hasWaited) => {
      const last = await (hasWaited ? this.#successor(stale) : this.current());
      if (last?.id !== stale.id) throw signInEnded(undefined);
      if (last.accessToken !== stale.accessToken) return last;
      let answer: TokenAnswer;
      try {
        answer = await this.#send("POST", "/auth/token", { grant_type: "refresh_token", refresh_token: last.refreshToken }, "always");
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== "invalid_grant") throw error;
        if ((await this.current())?.id === stale.id) await this.#keep(null);
        throw signInEnded(error);
      }
      if ((await this.current())?.id !== stale.id) throw signInEnded(undefined); // another sign-in began meanwhile
      return this.#keep(keptOf(stale.id, answer, last.refreshToken));
    });
  }

  /** The stored sign-in after another tab refreshed it. The change may arrive late, or not at all if it failed. */
  async #successor(stale: KeptSignIn): Promise<KeptSignIn | null> {
    for (const end = Date.now() + longestArrival; ; await pause(10, undefined)) {
      const kept = await this.current();
      if (kept?.accessToken !== stale.accessToken || Date.now() > end) return kept;
    }
  }

  /** Begins a sign-in with a grant. */
  async #begin(parameters: Record<string, string>): Promise<SignedIn> {
    const answer = await this.#present(parameters, {});
    await this.#keep(keptOf(uniqueName(), answer, ""));
    return { identityCreated: answer.identity_created };
  }

  /** Keeps the sign-in that an invitation began, or goes on with, once the user has shown a second factor that it needs. */
  async accepted(answer: TokenAnswer & FactorNeeded): Promise<void> {
    let tokens: TokenAnswer = answer;
    if (answer.factor_token !== undefined) {
      const needed = new ServiceError("second_factor_required", 401, "a second factor is required", { data: factorData(answer) });
      tokens = await this.#present(await this.#asked(needed), { factor_token: answer.factor_token });
    }
    const last = tokens.refresh_token === undefined ? await this.current() : null;
    await this.#keep(keptOf(last?.id ?? uniqueName(), tokens, last?.refreshToken ?? ""));
  }

  /** Has the user show a credential for a sign-in that goes on, since a call was refused without. */
  raise(signIn: KeptSignIn, refused: ServiceError): Promise<KeptSignIn> {
    this.#raising ??= (async () => {
      const answer = await this.#present(await this.#asked(refused), { access_token: signIn.accessToken });
      const last = await this.current();
      if (last?.id !== signIn.id) throw signInEnded(undefined);
      return this.#keep(keptOf(signIn.id, answer, last.refreshToken));
    })().finally(() => (this.#raising = null));
    return this.#raising;
  }

  /** Sends a credential, then those that the user shows until they suffice. */
  async #present(first: Record<string, string>, session: Record<string, string>): Promise<TokenAnswer> {
    let parameters = first;
    let pending: Record<string, string> = {};
    for (;;) {
      try {
        return await this.#send("POST", "/auth/token", { ...parameters, ...session }, "if refused");
      } catch (error) {
        if (!(error instanceof ServiceError) || this.#ask === undefined) throw error;
        if (error.data?.factorToken !== undefined) pending = { factor_token: error.data.factorToken };
        else if (error.code !== "invalid_grant" || (parameters === first && Object.keys(session).length === 0)) throw error;
        parameters = { ...(await this.#asked(error)), ...pending };
      }
    }
  }

  /** Asks the user for a credential because of an error, which is thrown if there is none. */
  async #asked(error: ServiceError): Promise<Record<string, string>> {
    const { needs = "secondFactor", factors } = error.data ?? {};
    const asked: CredentialRequest = { needs, error, ...(factors === undefined ? {} : { factors }) };
    const shown: Credential | null = (await this.#ask?.(asked)) ?? null;
    if (shown === null) throw error;
    if ("code" in shown) return { grant_type: "second_factor", code: shown.code };
    if ("passkey" in shown) return { grant_type: "second_factor", credential: await this.#passkey(error.data?.publicKey) };
    if ("recoveryCode" in shown) return { grant_type: "second_factor", recovery_code: shown.recoveryCode };
    return { grant_type: "password", username: shown.username, password: shown.password };
  }

  /** Has the user show a passkey, for a new challenge unless there is one. */
  async #passkey(asked?: PasskeyRequest): Promise<string> {
    return showPasskey(asked ?? (await this.#send<{ publicKey: PasskeyRequest }>("POST", "/auth/passkey", {}, "always")).publicKey);
  }

  async #keep<T extends KeptSignIn | null>(signIn: T): Promise<T> {
    const before = await this.current();
    if (signIn === null) await this.#storage.removeItem(this.#key);
    else await this.#storage.setItem(this.#key, JSON.stringify(signIn));
    if (before?.id !== signIn?.id) for (const listener of [...this.#listeners]) listener(signIn !== null);
    return signIn;
  }

  async #begun(): Promise<BegunSignIn[]> {
    const all = read<BegunSignIn[]>(await this.#storage.getItem(`${this.#key} begun`));
    return Array.isArray(all) ? all.filter((one) => one.begunAt + begunFor > Date.now()) : [];
  }

  async #keepBegun(all: BegunSignIn[]): Promise<void> {
    if (all.length === 0) await this.#storage.removeItem(`${this.#key} begun`);
    else await this.#storage.setItem(`${this.#key} begun`, JSON.stringify(all.slice(-10)));
  }

  #send<T>(method: "GET" | "POST", path: string, parameters: Record<string, string>, repeatable: Repeatable): Promise<T> {
    const request: ServiceRequest = { url: this.#baseUrl + path, method, headers: {}, signal: undefined };
    if (method === "POST") {
      request.headers["Content-Type"] = "application/x-www-form-urlencoded";
      request.body = formOf(parameters);
    }
    return persist(this.#retries, repeatable, undefined, () => sendOnce<T>(this.#fetch, request));
  }
}

function keptOf(id: string, answer: TokenAnswer, refreshToken: string): KeptSignIn {
  return {
    id,
    accessToken: answer.access_token,
    refreshToken: answer.refresh_token ?? refreshToken,
    freshUntil: Date.now() + Math.max(answer.expires_in - 30, answer.expires_in * 0.75) * 1000,
  };
}

/** Reads a stored JSON text; null if it is not JSON. */
function read<T>(text: string | null): T | null {
  try {
    return text === null ? null : (JSON.parse(text) as T);
  } catch {
    return null;
  }
}

// Some runtimes have only a part of URLSearchParams.

function formOf(parameters: Record<string, string>): string {
  return Object.entries(parameters).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
}

function parametersOf(url: string): Map<string, string> {
  const query = /\?([^#]*)/.exec(url)?.[1] ?? "";
  const decode = (text: string) => decodeURIComponent(text.replace(/\+/g, " "));
  return new Map(query.split("&").filter((pair) => pair !== "").map((pair) => {
    const [name = "", ...value] = pair.split("=");
    return [decode(name), decode(value.join("="))];
  }));
}

/** An address without the parameters of a sign-in, which must not be shared or reloaded. */
function withoutAnswer(url: string): string {
  const [, path = "", query = "", hash = ""] = /^([^?#]*)(\?[^#]*)?(#.*)?$/.exec(url) ?? [];
  const kept = query.slice(1).split("&").filter((pair) => !/^(code|state|iss|error|error_description)=/.test(pair) && pair !== "");
  return path + (kept.length === 0 ? "" : `?${kept.join("&")}`) + hash;
}

export { type KeptSignIn, SignIns, type TokenAnswer };
