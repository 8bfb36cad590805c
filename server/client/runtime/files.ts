// Files: uploaded before the call, or sent inline.

import type { ServiceApi } from "./calls.js";
import { ServiceError } from "./errors.js";
import { noAnswer, persist } from "./requests.js";
import { type ProgressRequest, base64, reasonOf, surroundings } from "./surroundings.js";

/** The options of an upload. */
export interface UploadOptions {
  /** Cancels the upload. */
  signal?: AbortSignal;
  /** The name of the file, if it has none of its own. */
  filename?: string;
  /** The content type of the file, if it has none of its own. */
  contentType?: string;
  /** Called with the number of sent bytes: during the upload with XMLHttpRequest, else at its end. */
  onProgress?: (progress: { loaded: number; total: number }) => void;
}

interface MintedUpload {
  key: string;
  url: string;
  headers: Record<string, string>;
}

/** Announces a file, sends it to storage, and returns the key for the action's input. */
async function uploadFile(api: ServiceApi, action: string, field: string, file: Blob, options: UploadOptions = {}): Promise<string> {
  const { filename, contentType } = nameAndType(file, options);
  if (file.size === 0) return dataUrl(file, { filename, contentType }); // storage does not accept empty files
  const input = { filename, contentType, size: file.size };
  const call = options.signal === undefined ? {} : { signal: options.signal };
  const minted = await api.call<MintedUpload>(`${action}/upload/${field}`, input, call, "always");
  // Browsers set the length themselves, and do not let scripts set it.
  const headers = Object.fromEntries(Object.entries(minted.headers).filter(([name]) => name.toLowerCase() !== "content-length"));
  await persist(api.retries, "always", options.signal, () => {
    if (options.onProgress === undefined || surroundings.XMLHttpRequest === undefined) return putByFetch(api, minted.url, headers, file, options);
    return putWithProgress(new surroundings.XMLHttpRequest(), minted.url, headers, file, options);
  });
  return minted.key;
}

function nameAndType(file: Blob, { filename, contentType }: { filename?: string; contentType?: string }) {
  const name = filename ?? (file as { name?: unknown }).name;
  if (typeof name !== "string") throw new Error("the file has no name: set the option filename");
  return { filename: name, contentType: contentType ?? (file.type || "application/octet-stream") };
}

async function putByFetch(api: ServiceApi, url: string, headers: Record<string, string>, file: Blob, { signal, onProgress }: UploadOptions): Promise<void> {
  let response: Response;
  try {
    response = await api.fetch(url, { method: "PUT", headers, body: file, ...(signal === undefined ? {} : { signal }) });
  } catch (cause) {
    throw signal?.aborted ? reasonOf(signal) : noAnswer(cause);
  }
  refuseStatus(response.status);
  onProgress?.({ loaded: file.size, total: file.size });
}

function putWithProgress(request: ProgressRequest, url: string, headers: Record<string, string>, file: Blob, options: UploadOptions): Promise<void> {
  const { signal, onProgress } = options;
  return new Promise<void>((resolve, reject) => {
    const abort = () => request.abort();
    const ended = (settle: () => void) => () => {
      signal?.removeEventListener("abort", abort);
      settle();
    };
    request.open("PUT", url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onProgress?.({ loaded, total });
    request.onerror = ended(() => reject(noAnswer(undefined)));
    request.onabort = ended(() => reject(signal === undefined ? noAnswer(undefined) : reasonOf(signal)));
    request.onload = ended(() => {
      try {
        resolve(refuseStatus(request.status));
      } catch (error) {
        reject(error);
      }
    });
    if (signal?.aborted) return reject(reasonOf(signal));
    signal?.addEventListener("abort", abort);
    request.send(file);
  });
}

/** Throws if storage did not accept a file. */
function refuseStatus(status: number): void {
  if (status >= 200 && status < 300) return;
  if (status >= 500) throw new ServiceError("ERR_UNAVAILABLE", 503, "storage is temporarily unavailable");
  throw new ServiceError("ERR_UPLOAD_REFUSED", status, `storage refused the file, with status ${status}`);
}

/** A small file as a data URL, for an input without an upload. */
export async function dataUrl(file: Blob, options: { filename?: string; contentType?: string } = {}): Promise<string> {
  const { filename, contentType } = nameAndType(file, options);
  return `data:${contentType};name=${encodeURIComponent(filename)};base64,${await contentOf(file)}`;
}

/** The content of a file in base64. */
async function contentOf(file: Blob): Promise<string> {
  const { FileReader } = surroundings; // the only reader of React Native
  if (typeof file.arrayBuffer === "function" || FileReader === undefined) return base64(new Uint8Array(await file.arrayBuffer()));
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

export { uploadFile };
