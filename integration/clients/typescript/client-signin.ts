// Sign-ins through the workshop's own client.

import { createHash, createHmac } from "node:crypto";

import { failure } from "./client-calls.js";
import { createClient, type Credential, type CredentialRequest, type SignInStorage } from "./workshop-client.js";
import { baseUrl, equal, some, step } from "./program.js";

/** A storage whose contents the test sees, and clients that share it as the tabs of a browser do. */
function shared() {
  const kept = new Map<string, string>();
  const storage: SignInStorage = { // asynchronous, like React Native's
    getItem: async (key) => kept.get(key) ?? null,
    setItem: async (key, value) => void kept.set(key, value),
    removeItem: async (key) => void kept.delete(key),
  };
  const paths: string[] = [];
  const tab = (before: (path: string) => Promise<unknown> = async () => {}, askCredential?: (request: CredentialRequest) => Promise<Credential | null>) =>
    createClient({
      baseUrl,
      storage,
      ...(askCredential === undefined ? {} : { askCredential }),
      fetch: async (input, init) => {
        const { pathname } = new URL(String(input));
        paths.push(pathname);
        await before(pathname);
        return fetch(input, init);
      },
    });
  const key = `sternpost ${baseUrl}`;
  const change = (members: object) => kept.set(key, JSON.stringify({ ...JSON.parse(some(kept.get(key))), ...members }));
  const read = () => JSON.parse(some(kept.get(key))) as { id: string; accessToken: string; refreshToken: string };
  return { kept, storage, paths, tab, change, read };
}

const password = "correct horse canary";

/** The code that an authenticator app shows for an address. */
function codeOf(otpauthUrl: string, steps = 0): string {
  const bits = [...some(new URL(otpauthUrl).searchParams.get("secret"))].map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(some(bits.match(/.{8}/g)).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps));
  const mac = createHmac("sha1", key).update(counter).digest();
  return String((mac.readUInt32BE(some(mac.at(-1)) & 15) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

await step("sign in and out", async () => {
  const { tab, kept, read } = shared();
  const client = tab();
  const told: boolean[] = [];
  const end = client.onSignInChange((isSignedIn) => told.push(isSignedIn));
  equal([await client.isSignedIn(), await client.accessToken()], [false, null]);
  equal(await client.signIn({ username: "own@example.com", password }), { identityCreated: true });
  equal([await client.isSignedIn(), (await client.accessToken())?.split(".").length], [true, 3]);
  equal((await client.hireMechanic({ name: "Mia" })).name, "Mia");
  const { refreshToken } = read();
  await client.signOut();
  equal([await client.isSignedIn(), kept.size], [false, 0]);
  equal((await failure(client.hireMechanic({ name: "Max" }))).code, "ERR_PERMISSION_DENIED");
  const revoked = await fetch(`${baseUrl}/auth/token`, { method: "POST", body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: refreshToken }) });
  equal(revoked.status, 400);
  end();
  equal(await client.signIn({ username: "own@example.com", password }), { identityCreated: false });
  equal(told, [true, false]);
});

await step("show a second factor, at sign-in and again", async () => {
  const asked: CredentialRequest[] = [];
  const answers: (Credential | null)[] = [];
  const askCredential = async (request: CredentialRequest) => {
    asked.push(request);
    return some(answers.shift());
  };
  const [client, early] = [shared().tab(undefined, askCredential), shared().tab(undefined, askCredential)];
  const username = "factor@example.com";
  await client.signIn({ username, password });
  await early.signIn({ username, password });
  const { otpauthUrl } = await client.startAuthenticator();
  const { recoveryCodes } = await client.confirmAuthenticator({ code: codeOf(otpauthUrl, -1) });
  equal([recoveryCodes.length, (await client.listFactors()).factors.map((factor) => factor.kind)], [10, ["totp"]]);
  await client.signOut();

  // A wrong code, and then the right one.
  answers.push({ code: "x" }, { code: codeOf(otpauthUrl) });
  equal(await client.signIn({ username, password }), { identityCreated: false });
  equal(asked.splice(0).map((request) => [request.needs, request.factors, request.error.code]), [
    ["secondFactor", ["totp", "recovery"], "second_factor_required"],
    ["secondFactor", undefined, "invalid_grant"],
  ]);
  equal((await client.listSessions()).sessions.length, 2); // this one and the early one

  // Without a way to ask, the sign-in fails; a user who gives up has not signed in.
  const mute = shared().tab();
  const refused = await failure(mute.signIn({ username, password }));
  equal([refused.code, refused.status, refused.data?.factors], ["second_factor_required", 401, ["totp", "recovery"]]);
  equal(await mute.isSignedIn(), false);

  // A session from before the account had a factor shows one when a call needs it. Calls at the same time share the question.
  answers.push({ recoveryCode: "wrong" }, { recoveryCode: some(recoveryCodes[0]) });
  const [, renewed] = await Promise.all([early.endOtherSessions(), early.renewRecoveryCodes()]);
  equal(asked.splice(0).map((request) => [request.needs, request.error.code]), [["secondFactor", "ERR_SECOND_FACTOR"], ["secondFactor", "invalid_grant"]]);
  equal([renewed.recoveryCodes.length, (await early.listSessions()).sessions.map((session) => session.isCurrent)], [10, [true]]);
  await early.removeAuthenticator();
  equal([await early.listFactors(), asked.length], [{ factors: [], recoveryCodes: 0 }, 0]);
  equal((await failure(client.listSessions())).code, "ERR_AUTHENTICATION_FAILED");
});

await step("show a second factor for a rule", async () => {
  const asked: string[] = [];
  const answers: (Credential | null)[] = [];
  const username = "rule@example.com";
  // No rule of this server asks for a second factor, so hireMechanic is refused here as such a rule refuses it.
  const guarded = async (askCredential?: (request: CredentialRequest) => Promise<Credential | null>) => {
    const { storage } = shared();
    const client = createClient({
      baseUrl,
      storage,
      ...(askCredential === undefined ? {} : { askCredential }),
      fetch: async (input, init) => {
        const claims = new Headers(init?.headers).get("Authorization")?.split(".")[1];
        const isShown = claims !== undefined && Buffer.from(claims, "base64url").toString().includes('"amr":["mfa"]');
        if (!String(input).endsWith("/hireMechanic") || isShown) return fetch(input, init);
        return Response.json({ code: "ERR_SECOND_FACTOR", message: "the caller must show a credential again", data: { needs: "secondFactor" } }, { status: 403 });
      },
    });
    await client.signIn({ username, password });
    return client;
  };
  const ask = async (request: CredentialRequest) => {
    asked.push(`${request.needs} ${request.error.code}`);
    return some(answers.shift());
  };
  const [own, other, mute] = [await guarded(ask), await guarded(ask), await guarded()];
  const { otpauthUrl } = await own.startAuthenticator();
  await own.confirmAuthenticator({ code: codeOf(otpauthUrl, -1) });
  equal([(await own.hireMechanic({ name: "Mo" })).name, asked], ["Mo", []]); // the session has just shown it
  answers.push({ code: "x" }, { code: codeOf(otpauthUrl) });
  equal((await other.hireMechanic({ name: "Ann" })).name, "Ann");
  equal(asked, ["secondFactor ERR_SECOND_FACTOR", "secondFactor invalid_grant"]);
  const refused = await failure(mute.hireMechanic({ name: "Max" }));
  equal([refused.code, refused.status, refused.data?.needs], ["ERR_SECOND_FACTOR", 403, "secondFactor"]);
});

await step("be refused", async () => {
  const client = shared().tab();
  const wrong = await failure(client.signIn({ username: "own@example.com", password: "wrong horse canary" }));
  equal([wrong.code, wrong.status], ["invalid_grant", 400]);
  const unknown = await failure(client.signIn({ username: "nobody@example.com", password, createIfNotExists: false }));
  equal(unknown.code, "invalid_grant");
  equal((await failure(client.signIn({ username: "no address", password }))).code, "invalid_request");
  equal((await failure(client.signInWithIdToken("x"))).code, "invalid_grant");
  equal((await failure(client.signInWithPasskey())).code, "invalid_request"); // this server has none
  equal([await client.isSignedIn(), await client.signInProviders()], [false, []]);
});

await step("replace a token in time, once for all tabs", async () => {
  const { tab, paths, change, read } = shared();
  const tabs = [tab(), tab(), tab()];
  await some(tabs[0]).signIn({ username: "own@example.com", password });
  const before = read();
  change({ freshUntil: Date.now() - 1 });
  paths.length = 0;
  await Promise.all(tabs.flatMap((client) => [client.listMechanics(), client.listMechanics(), client.accessToken()]));
  equal(paths.filter((path) => path === "/auth/token").length, 1);
  const after = read();
  equal([after.id === before.id, after.refreshToken === before.refreshToken], [true, false]);

  change({ accessToken: "no longer a token" }); // such as after a change of the signing key
  paths.length = 0;
  const made = await Promise.all(tabs.map((client, n) => client.hireMechanic({ name: `Tab ${n}` })));
  equal([made.map((m) => m.name), paths.filter((path) => path === "/auth/token").length], [["Tab 0", "Tab 1", "Tab 2"], 1]);
});

await step("learn that the sign-in is over", async () => {
  const { tab, change, kept } = shared();
  const client = tab();
  await client.signIn({ username: "own@example.com", password });
  const told: boolean[] = [];
  client.onSignInChange((isSignedIn) => told.push(isSignedIn));
  change({ refreshToken: "revoked", freshUntil: 0 });
  const error = await failure(client.listMechanics());
  equal([error.code, error.status, kept.size, told], ["ERR_AUTHENTICATION_FAILED", 401, 0, [false]]);
  equal((await client.listMechanics()).results.length > 0, true); // anonymous, since the caller has been told
});

await step("stay who one is, though somebody else signs in meanwhile", async () => {
  const { tab, change, read } = shared();
  const other = tab();
  const client = tab(async (path) => {
    if (path.endsWith("/hireMechanic")) await other.signIn({ username: "other@example.com", password });
  });
  await client.signIn({ username: "own@example.com", password });
  change({ accessToken: "not a token" });
  const before = read();
  const error = await failure(client.hireMechanic({ name: "Whose" }));
  equal([error.code, error.status, read().id === before.id], ["ERR_AUTHENTICATION_FAILED", 401, false]);
  equal((await client.listMechanics({ where: { name: { equals: "Whose" } } })).results, []);
});

await step("call with a key instead of a sign-in", async () => {
  const { tab } = shared();
  await tab().signIn({ username: "own@example.com", password });
  const machine = createClient({ baseUrl, headers: { Authorization: "Bearer sk_none" } });
  equal((await failure(machine.listMechanics())).message, "the access token is not valid");
});

await step("begin and end a sign-in through a provider", async () => {
  const { tab, kept } = shared();
  const client = tab();
  let opened = "";
  await client.signInWith("company", { redirectUri: "com.example.app:/signed-in?x=1", open: (url) => (opened = url) });
  const address = new URL(opened);
  equal(address.origin + address.pathname, `${baseUrl}/auth/authorize/company`);
  const parameters = Object.fromEntries(address.searchParams);
  const [begun] = JSON.parse(some(kept.get(`sternpost ${baseUrl} begun`))) as [{ state: string; verifier: string }];
  equal(parameters, {
    redirect_uri: "com.example.app:/signed-in?x=1",
    state: begun.state,
    code_challenge: createHash("sha256").update(begun.verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  equal([/^[\w-]{43}$/.test(begun.state), /^[\w-]{43}$/.test(begun.verifier)], [true, true]);

  equal(await client.finishSignIn("com.example.app:/signed-in?x=1"), null);
  const back = (query: object) => `com.example.app:/signed-in?x=1&${new URLSearchParams({ state: begun.state, iss: baseUrl, code: "c", ...query })}#top`;
  const elsewhere = await failure(client.finishSignIn(back({ state: "other" })));
  equal(elsewhere.code, "ERR_SIGN_IN_NOT_BEGUN");
  equal((await failure(client.finishSignIn(back({ iss: "https://evil.example.com" })))).code, "ERR_SIGN_IN_NOT_BEGUN");
  const refused = await failure(client.finishSignIn(back({ error: "access_denied", error_description: "not + today" })));
  equal([refused.code, refused.message], ["access_denied", "not + today"]);
  equal((await failure(client.finishSignIn(back({})))).code, "ERR_SIGN_IN_NOT_BEGUN"); // it has ended
  await client.signInWith("company", { redirectUri: "x:/", open: (url) => (opened = url) });
  const code = await failure(client.finishSignIn(`x:/?state=${new URL(opened).searchParams.get("state")}&code=none&iss=${encodeURIComponent(baseUrl)}`));
  equal(code.code, "invalid_grant");
  equal(await client.signInWith("company").catch(String), "Error: outside a browser, set redirectUri and open");
});
