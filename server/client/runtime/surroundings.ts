// The parts of the runtime that the client uses, never at load. A part that a browser, Node, Deno, Bun or React Native
// lacks is undefined here.

import type { PasskeyAnswer, PasskeyRequest } from "./passkeys.js";

/** An upload that reports its progress. */
interface ProgressRequest {
  readonly status: number;
  readonly upload: { onprogress: ((event: { loaded: number; total: number }) => void) | null };
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  send(body: Blob): void;
  abort(): void;
}

/** The authenticators of a browser. */
interface Authenticators {
  create(options: { publicKey: unknown }): Promise<PasskeyAnswer | null>;
  get(options: { publicKey: unknown }): Promise<PasskeyAnswer | null>;
}

/** The locks that all tabs of a browser share. */
interface Locks {
  request<T>(name: string, options: { ifAvailable?: boolean }, work: (lock: unknown) => Promise<T>): Promise<T>;
}

interface Surroundings {
  XMLHttpRequest?: new () => ProgressRequest;
  addEventListener?: (type: "storage", listener: (event: { key: string | null }) => void) => void;
  removeEventListener?: (type: "storage", listener: (event: { key: string | null }) => void) => void;
  FileReader?: new () => { result: unknown; error: unknown; onload: (() => void) | null; onerror: (() => void) | null; readAsDataURL(file: Blob): void };
  crypto?: { getRandomValues?: (bytes: Uint8Array) => Uint8Array };
  history?: { state: unknown; replaceState(state: unknown, title: string, url: string): void };
  localStorage?: SignInStorage;
  location?: { href: string; assign(url: string): void };
  navigator?: { locks?: Locks; credentials?: Authenticators };
  PublicKeyCredential?: { parseCreationOptionsFromJSON?: (publicKey: PasskeyRequest) => unknown; parseRequestOptionsFromJSON?: (publicKey: PasskeyRequest) => unknown };
}

const surroundings = globalThis as unknown as Surroundings;

/** A storage of sign-ins, such as localStorage or React Native's AsyncStorage. */
export interface SignInStorage {
  getItem(key: string): string | null | Promise<string | null>;
  setItem(key: string, value: string): unknown;
  removeItem(key: string): unknown;
}

/** The browser's storage, or one in memory. */
function defaultStorage(): SignInStorage {
  try {
    const storage = surroundings.localStorage;
    if (typeof storage?.getItem === "function") return storage;
  } catch {
    // A browser that stores nothing throws on access.
  }
  const kept = new Map<string, string>();
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => kept.set(key, value),
    removeItem: (key) => kept.delete(key),
  };
}

const lines = new Map<string, Promise<unknown>>();

/** Does work under a lock that all tabs of a browser share. The work learns whether it waited for another tab. */
function exclusively<T>(name: string, work: (hasWaited: boolean) => Promise<T>): Promise<T> {
  const done = (lines.get(name) ?? Promise.resolve()).then(() => amongTabs(name, work));
  const over = done.catch(() => undefined).then(() => {
    if (lines.get(name) === over) lines.delete(name);
  });
  lines.set(name, over);
  return done;
}

async function amongTabs<T>(name: string, work: (hasWaited: boolean) => Promise<T>): Promise<T> {
  const locks = surroundings.navigator?.locks;
  if (locks === undefined) return work(false);
  const done = await locks.request(name, { ifAvailable: true }, async (lock) => (lock === null ? null : { result: await work(false) }));
  return done === null ? locks.request(name, {}, () => work(true)) : done.result;
}

/** Waits for a promise until a signal ends the wait. The work behind the promise continues. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(reasonOf(signal));
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** The reason of an aborted signal. */
function reasonOf(signal: AbortSignal): unknown {
  const { reason } = signal as { reason?: unknown };
  if (reason !== undefined) return reason;
  const error = new Error("the call was aborted");
  error.name = "AbortError";
  return error;
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return unlessAborted(new Promise<void>((resolve) => setTimeout(resolve, milliseconds)), signal);
}

/** Random bytes that cannot be guessed. */
function randomBytes(length: number): Uint8Array {
  const crypto = surroundings.crypto;
  if (crypto?.getRandomValues === undefined) {
    throw new Error("crypto.getRandomValues is missing: add it, in React Native with react-native-get-random-values");
  }
  return crypto.getRandomValues(new Uint8Array(length));
}

/** A unique key of a call. It may be guessable. */
function uniqueName(): string {
  if (surroundings.crypto?.getRandomValues !== undefined) return base64url(randomBytes(16));
  const part = () => Math.random().toString(36).slice(2);
  return `${Date.now().toString(36)}-${part()}${part()}`;
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function base64(bytes: Uint8Array): string {
  const groups: string[] = [];
  for (let i = 0; i < bytes.length; i += 3) {
    const three = (byteAt(bytes, i) << 16) | (byteAt(bytes, i + 1) << 8) | byteAt(bytes, i + 2);
    const group = [18, 12, 6, 0].map((shift) => letters.charAt((three >> shift) & 63)).join("");
    const missing = Math.max(0, i + 3 - bytes.length);
    groups.push(group.slice(0, 4 - missing) + "=".repeat(missing));
  }
  return groups.join("");
}

function base64url(bytes: Uint8Array): string {
  return base64(bytes).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
}

/** The bytes of a text in base64url. */
function bytesOf(text: string): Uint8Array {
  const parts = [...text.replace(/-/g, "+").replace(/_/g, "/")].map((letter) => letters.indexOf(letter));
  return Uint8Array.from({ length: Math.floor((parts.length * 3) / 4) }, (_, i) => {
    const first = Math.floor((i * 4) / 3);
    return (((parts[first] ?? 0) << 6) | (parts[first + 1] ?? 0)) >> (4 - (i % 3) * 2);
  });
}

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}

export { base64, base64url, byteAt, bytesOf, defaultStorage, exclusively, pause, type ProgressRequest, randomBytes, reasonOf, surroundings, uniqueName, unlessAborted };
