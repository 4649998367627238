import { expect, test } from "vitest";
import { tenantId } from "../../src/core/ids.ts";
import { consolesOf } from "../../src/identity/console.ts";
import { cookiesOf } from "../../src/identity/cookies.ts";
import { identityStore } from "../../src/ledger/identity-store.ts";
import { movableClock } from "../support/clock.ts";
import { development, visitor } from "../support/development.ts";
import { exchange } from "../support/exchange.ts";
import { rig } from "../support/rig.ts";

const OWN = { "writ-console": "1" };
const BOUNDS = { idleMs: 600_000, lifeMs: 3_600_000, eachMax: 2 };
const PERSON = {
  tenantId: tenantId("acme"),
  principalId: "i#ben",
  clientId: "console",
  roles: ["approver"],
  authenticatedAt: 1_700_000_000_000,
  acr: "strong",
};

/** Sends exactly these headers; fetch would add its own. */
function send(url: string, method: string, path: string, headers: Readonly<Record<string, string>>) {
  return exchange(Number(new URL(url).port), method, path, {
    headers,
    ...(method === "POST" ? { body: {} } : {}),
  });
}

test("a person signs in at the issuer's page and has a session of their own; after the logout it is nothing, whoever kept the cookie", async () => {
  const here = await development();
  const browser = visitor();

  const { page } = await browser.signIn(`${here.url}/login?next=/docs`, "ben");
  expect(page?.status).toBe(200);
  expect(await page?.text()).toContain('content="0;url=/docs"');
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const session = page?.headers.getSetCookie().find((line) => line.startsWith("writ-session-")) ?? "";
  expect(session).toMatch(
    /^writ-session-\d+=main\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
  );

  const me = await send(here.url, "GET", "/v1/me", { cookie });
  expect(me.body).toMatchObject({
    principal: "development#ben",
    client: "writ-console",
    roles: ["stock-manager", "approver"],
    via: "console",
  });
  expect(Date.parse(me.body.authenticatedAt)).toBeGreaterThan(Date.now() - 60_000);

  const out = await send(here.url, "POST", "/logout", { cookie, origin: here.url, ...OWN });
  expect(out.status).toBe(204);
  expect(String(out.headers["set-cookie"])).toMatch(/^writ-session-\d+=; .*Max-Age=0$/);
  expect((await send(here.url, "GET", "/v1/me", { cookie })).status).toBe(401);
});

test("A40: what changes something comes from a page of ours or not at all: no other origin, no missing origin, no missing header", async () => {
  const here = await development();
  const browser = visitor();
  await browser.signIn(`${here.url}/login`, "cleo");
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const halting = (headers: Readonly<Record<string, string>>) =>
    exchange(Number(new URL(here.url).port), "POST", "/v1/halts", {
      headers: { cookie, ...headers },
      body: { scope: "tenant", reason: "csrf" },
    });

  for (const headers of [
    { origin: "https://evil.example", ...OWN },
    { origin: "http://127.0.0.1:1", ...OWN },
    { origin: "null", ...OWN },
    { ...OWN },
    { origin: here.url },
  ] as readonly Readonly<Record<string, string>>[])
    expect((await halting(headers)).status).toBe(403);
  expect((await send(here.url, "GET", "/v1/halts", { cookie })).body.halts).toEqual([]);
  expect((await halting({ origin: here.url, ...OWN })).status).toBe(201);
  // A page elsewhere is not even told that it may ask.
  const asked = await send(here.url, "OPTIONS", "/v1/halts", {
    origin: "https://evil.example",
    "access-control-request-method": "POST",
    "access-control-request-headers": "writ-console",
  });
  expect([asked.status, asked.headers["access-control-allow-origin"]]).toEqual([403, undefined]);
  // And nothing that only looks acts.
  expect((await send(here.url, "GET", "/logout", { cookie })).status).toBe(405);
  expect((await send(here.url, "GET", "/v1/me", { cookie })).status).toBe(200);
});

test("A17: nobody is signed in by somebody else's answer, and nobody goes on in a session that was planted", async () => {
  const here = await development();
  const [mallory, victim] = [visitor(), visitor()];
  const { at } = await mallory.signIn(`${here.url}/login`, "cleo", (url) =>
    url.startsWith(`${here.url}/login/callback`),
  );

  expect((await victim.visit(at)).status).toBe(401);
  await victim.visit(`${here.url}/login`);
  expect((await victim.visit(at)).status).toBe(401);
  expect([...victim.cookies.keys()].filter((name) => name.startsWith("writ-session"))).toEqual([]);

  await mallory.visit(at);
  const [name = "", planted = ""] =
    [...mallory.cookies].find(([each]) => each.startsWith("writ-session")) ?? [];
  victim.cookies.set(name, planted);
  await victim.signIn(`${here.url}/login`, "ada");
  expect(victim.cookies.get(name)).not.toBe(planted);
  expect((await send(here.url, "GET", "/v1/me", { cookie: `${name}=${planted}` })).status).toBe(401);
  // The code of a login is worth one session.
  expect((await mallory.visit(at)).status).toBe(401);
});

test.each([
  "https://evil.example/",
  "//evil.example",
  "/\\evil.example",
  "/%0d%0aset-cookie:x",
  "javascript:alert(1)",
  "/login?next=/x",
  '/a"><script>',
])("A17: nobody is sent away from here by a link: %s", async (next) => {
  const here = await development();
  const browser = visitor();

  const { page } = await browser.signIn(`${here.url}/login?next=${encodeURIComponent(next)}`, "ada");
  const text = (await page?.text()) ?? "";
  const [, to = ""] = /content="0;url=([^"]*)"/.exec(text) ?? [];
  expect(new URL(to, here.url).origin).toBe(here.url);
  expect(text).not.toContain("<script");
  expect(to === "/" || to === "/%0d%0aset-cookie:x").toBe(true);
});

test("a session ends when it is idle, when its time is over, when newer ones take its place, and when its person is revoked", async () => {
  const here = await rig();
  const clock = await movableClock(here);
  const { consoles } = identityStore(here.database);
  const stands = async (digest: string) =>
    (await consoles.use(PERSON.tenantId, digest, BOUNDS.idleMs)) !== undefined;

  await consoles.start(PERSON, "one", BOUNDS);
  expect(await consoles.use(PERSON.tenantId, "one", BOUNDS.idleMs)).toEqual(PERSON);
  expect(await consoles.use(tenantId("globex"), "one", BOUNDS.idleMs)).toBeUndefined();
  await clock.ahead(599_000);
  expect(await stands("one")).toBe(true);
  await clock.ahead(599_000);
  expect(await stands("one")).toBe(true);
  await clock.ahead(601_000);
  expect(await stands("one")).toBe(false);

  await consoles.start(PERSON, "two", BOUNDS);
  for (let used = 0; used < 7; used++) {
    await clock.ahead(500_000);
    expect(await stands("two")).toBe(used < 7);
  }
  await clock.ahead(150_000);
  expect(await stands("two")).toBe(false);

  for (const digest of ["a", "b", "c"]) {
    await consoles.start(PERSON, digest, BOUNDS);
    await clock.ahead(10);
  }
  expect([await stands("a"), await stands("b"), await stands("c")]).toEqual([false, true, true]);
  expect(await consoles.endAll(PERSON.tenantId, PERSON.principalId)).toBe(2);
  expect([await stands("b"), await stands("c")]).toEqual([false, false]);
});

test("over https the cookie is the host's own: no subdomain sets one, no page reads one, two of a name are none", async () => {
  const cookies = cookiesOf(() => "https://writ.acme.example");
  const line = cookies.write("session", "acme.x", 60_000);

  expect(line).toBe("__Host-writ-session=acme.x; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=60");
  expect(cookies.write("login", "x")).toBe("__Host-writ-login=x; Path=/; HttpOnly; SameSite=Lax; Secure");
  expect(cookies.read("a=b; __Host-writ-session=acme.x", "session")).toBe("acme.x");
  expect(cookies.read("__Host-writ-session=acme.x; __Host-writ-session=acme.y", "session")).toBeUndefined();
  expect(cookies.read("writ-session=acme.x", "session")).toBeUndefined();
});

test("the database holds no secret of a session, only its digest", async () => {
  const here = await rig();
  const { consoles } = identityStore(here.database);
  const publicUrl = () => "https://writ.example";
  const doors = consolesOf({ sessions: consoles, cookies: cookiesOf(publicUrl), publicUrl, bounds: BOUNDS });
  const [, secret = ""] = /acme\.([\w-]{43})/.exec(await doors.start(PERSON, undefined)) ?? [];
  const rows = JSON.stringify(await here.run("select * from console_sessions"));

  expect(secret).toHaveLength(43);
  expect(rows).toContain("i#ben");
  expect(rows).not.toContain(secret);
});
