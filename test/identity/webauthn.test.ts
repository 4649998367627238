import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { type Browser, type CDPSession, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import type { SignedApproval } from "../../src/core/review.ts";
import { processEntropy } from "../../src/host/entropy.ts";
import { assertionFault } from "../../src/identity/assertion.ts";
import { webauthn } from "../../src/identity/webauthn.ts";
import { passkeyStore } from "../../src/ledger/passkeys.ts";
import { answer } from "../../src/service/approve.ts";
import { beginEnrolment, enrolPasskey, listPasskeys, removePasskey } from "../../src/service/passkeys.ts";
import { look } from "../../src/service/waiting.ts";
import { door } from "../support/door.ts";
import { CHROMIUM, needs } from "../support/needs.ts";
import { asks, changingPolicy, person } from "../support/people.ts";
import { type Shop, shop } from "../support/shop.ts";
import { refusal } from "../support/stock.ts";

const test = needs("chromium");
const PATIENCE_MS = 60_000;
const CLIENT = createRequire(import.meta.url)
  .resolve("@simplewebauthn/browser")
  .replace(/@simplewebauthn\/browser\/.*$/, "@simplewebauthn/browser/dist/bundle/index.umd.min.js");

const open: { browser?: Browser; page?: Page; cdp?: CDPSession; authenticator?: string; origin: string } = {
  origin: "",
};
const pages = createServer((request, reply) => {
  const script = request.url === "/client.js";
  reply.setHeader("content-type", script ? "text/javascript" : "text/html");
  reply.end(
    script ? readFileSync(CLIENT) : "<!doctype html><title>approve</title><script src=/client.js></script>",
  );
});

const AUTHENTICATOR = {
  protocol: "ctap2",
  transport: "internal",
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;

beforeAll(async () => {
  if (!existsSync(CHROMIUM)) return;
  await new Promise<void>((done) => pages.listen(0, "127.0.0.1", done));
  open.origin = `http://localhost:${(pages.address() as AddressInfo).port}`;
  const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"];
  open.browser = await chromium.launch({ executablePath: CHROMIUM, args });
  open.page = await open.browser.newPage();
  await open.page.goto(open.origin);
  open.cdp = await open.page.context().newCDPSession(open.page);
  await open.cdp.send("WebAuthn.enable");
  const added = await open.cdp.send("WebAuthn.addVirtualAuthenticator", { options: AUTHENTICATOR });
  open.authenticator = added.authenticatorId;
}, PATIENCE_MS);

afterAll(async () => {
  await open.browser?.close();
  pages.close();
});

/** What the page's authenticator answers, as a console would ask it. */
async function inBrowser(
  call: "startRegistration" | "startAuthentication",
  options: object,
): Promise<JsonObject> {
  const script = `window.SimpleWebAuthnBrowser.${call}({ optionsJSON: ${JSON.stringify(options)} })`;
  return (await open.page?.evaluate(script)) as JsonObject;
}

/** A shop whose orders need a passkey's signature, with one enrolled for bob. */
async function signing(origins: readonly string[] = [open.origin]) {
  const requirements = [asks({ assurance: { webauthn: true } })];
  const here = await shop({ overrides: { policy: changingPolicy({ effect: "review", requirements }) } });
  const passkeys = webauthn({
    rpId: "localhost",
    origins,
    store: passkeyStore(here.database),
    tenantKey: here.ports.catalog.tenantKey,
    clock: () => here.ports.clock.wallMs(),
    salt: processEntropy.salt,
  });
  Object.assign(here.ports, { approvals: { ...here.ports.approvals, passkeys } });
  const bob = person(here, "bob", { authentication: { via: "console" } });
  return { here, bob, passkeys };
}

async function enrolled() {
  const all = await signing();
  const { options, ticket } = await beginEnrolment(all.here.ports, all.bob);
  const response = await inBrowser("startRegistration", options);
  const passkey = await enrolPasskey(all.here.ports, all.bob, { ticket, response, name: "laptop" });
  return { ...all, passkey, enrolment: { ticket, response } };
}

async function signedView(here: Shop, bob: Parameters<typeof look>[1], id: Parameters<typeof look>[2]) {
  const { view, passkey, operation } = await look(here.ports, bob, id);
  const sign = (decision: "approve" | "reject") =>
    inBrowser("startAuthentication", {
      rpId: passkey?.rpId,
      challenge: passkey?.challenges[decision],
      allowCredentials: passkey?.credentials.map((each) => ({ id: each, type: "public-key" })),
      userVerification: "required",
    });
  return { nonce: view?.nonce ?? "", digest: operation.digest, sign };
}

describe("a passkey's approval", { timeout: PATIENCE_MS }, () => {
  test("C042: is given in a real browser, kept with the operation, and can be verified with nothing but node's crypto", async () => {
    const { here, bob } = await enrolled();
    const waits = await here.place("o1");
    const { nonce, digest, sign } = await signedView(here, bob, waits.id);
    const given = { decision: "approve", digest, nonce } as const;

    const unsigned = await refusal(answer(here.ports, bob, waits.id, given));
    const executed = await answer(here.ports, bob, waits.id, { ...given, assertion: await sign("approve") });
    const settled = (await executed.done) ?? executed.operation;

    expect(unsigned).toMatchObject({ code: "insufficient_user_authentication", at: "/assertion" });
    expect(settled.state).toBe("succeeded");
    expect(here.orders()).toBe(1);
    const signed = settled.authorization?.approvals[0]?.signed as unknown as SignedApproval;
    const expected = { rpId: "localhost", origins: [open.origin] };
    expect(signed.statement).toMatchObject({
      actionDigest: digest,
      approver: "test#bob",
      decision: "approve",
    });
    expect(assertionFault(signed, expected)).toBeUndefined();
    const turned: SignedApproval = { ...signed, statement: { ...signed.statement, decision: "reject" } };
    expect(assertionFault(turned, expected)).toBe("it signs another statement");
    expect(assertionFault(signed, { ...expected, origins: ["https://evil.example"] })).toBeDefined();
    expect(assertionFault(signed, { ...expected, rpId: "evil.example" })).toBeDefined();
    const data = Buffer.from(signed.authenticatorData, "base64url");
    data[32] = 0x01;
    const unverified = { ...signed, authenticatorData: data.toString("base64url") };
    expect(assertionFault(unverified, expected)).toBe("the authenticator did not verify its user");
    data[32] = 0x1d;
    const touched = { ...signed, authenticatorData: data.toString("base64url"), signature: signed.signature };
    data[36] = (data[36] ?? 0) ^ 0xff;
    expect(assertionFault({ ...touched, authenticatorData: data.toString("base64url") }, expected)).toBe(
      "its signature does not hold",
    );
  });

  test("is enrolled, asked for and given over HTTP, by a person in a console session", async () => {
    const { here, bob } = await signing();
    const there = await door(here, { identify: async () => bob });
    const waits = await here.place("o1");
    const begun = await there.call("POST", "/v1/passkeys/enrolment");
    const { options, ticket } = begun.body;
    const response = await inBrowser("startRegistration", options);
    const made = await there.call("POST", "/v1/passkeys", { body: { ticket, response, name: "laptop" } });
    const view = (await there.call("GET", `/v1/approvals/${waits.id}`)).body;
    const assertion = await inBrowser("startAuthentication", {
      rpId: view.passkey.rpId,
      challenge: view.passkey.challenges.approve,
      allowCredentials: view.passkey.credentials.map((id: string) => ({ id, type: "public-key" })),
      userVerification: "required",
    });

    const done = await there.call("POST", `/v1/operations/${waits.id}/decisions`, {
      body: { decision: "approve", digest: view.digest, nonce: view.nonce, assertion },
    });
    const listed = await there.call("GET", "/v1/passkeys");
    const removed = await there.call("POST", "/v1/passkeys/remove", { body: { id: made.body.id } });

    expect([made.status, done.status, done.body.state]).toEqual([201, 200, "succeeded"]);
    expect(listed.body.passkeys).toMatchObject([{ name: "laptop", usedAt: expect.any(String) }]);
    expect(removed.body.passkeys).toEqual([]);
    expect(here.orders()).toBe(1);
  });

  test("A14: is refused for another change, another decision, another operation, and at another origin", async () => {
    const { here, bob } = await enrolled();
    const [one, two] = [await here.place("o1"), await here.place("o2", { quantity: 2 })];
    const first = await signedView(here, bob, one.id);
    const second = await signedView(here, bob, two.id);
    const no = await first.sign("reject");
    const yes = await first.sign("approve");
    const elsewhere = await signing(["https://evil.example"]);
    Object.assign(elsewhere.passkeys.store, passkeyStore(here.database));
    const abroad = { ...here.ports, approvals: { ...here.ports.approvals, passkeys: elsewhere.passkeys } };

    const refusals = [
      // The same signature, sent as an answer to another operation with its own digest and view.
      await refusal(
        answer(here.ports, bob, two.id, {
          decision: "approve",
          digest: second.digest,
          nonce: second.nonce,
          assertion: yes,
        }),
      ),
      // A signed no, sent as a yes.
      await refusal(
        answer(here.ports, bob, one.id, {
          decision: "approve",
          digest: first.digest,
          nonce: first.nonce,
          assertion: no,
        }),
      ),
      // A signature that was given at our own origin, checked by who expects another one.
      await refusal(
        answer(abroad, bob, one.id, {
          decision: "approve",
          digest: first.digest,
          nonce: first.nonce,
          assertion: yes,
        }),
      ),
      // Somebody else sends it.
      await refusal(
        answer(here.ports, person(here, "carol"), one.id, {
          decision: "approve",
          digest: first.digest,
          nonce: (await look(here.ports, person(here, "carol"), one.id)).view?.nonce ?? "",
          assertion: yes,
        }),
      ),
    ];

    expect(refusals.map(({ code, at }) => [code, at])).toEqual(
      Array(4).fill(["decision_refused", "/assertion"]),
    );
    expect((await here.again(one)).review?.approvals).toEqual([]);
    expect(here.orders()).toBe(0);
  });

  test("whose counter goes backwards is not trusted any more, and the passkey signs nothing afterwards", async () => {
    const { here, bob, passkey } = await enrolled();
    const waits = await here.place("o1");
    await here.run("update passkeys set counter = 1000");
    const view = await signedView(here, bob, waits.id);
    const given = { decision: "approve", digest: view.digest, nonce: view.nonce } as const;

    const cloned = await refusal(
      answer(here.ports, bob, waits.id, { ...given, assertion: await view.sign("approve") }),
    );

    const [known] = await listPasskeys(here.ports, bob);
    expect(cloned).toMatchObject({ code: "decision_refused", at: "/assertion" });
    expect(known).toMatchObject({ id: passkey.id, suspectAt: expect.any(Number) });
    expect((await look(here.ports, bob, waits.id)).passkey).toBeUndefined();
  });

  test("needs its user to be verified: without, the browser signs nothing", async () => {
    const { here, bob } = await enrolled();
    const waits = await here.place("o1");
    const view = await signedView(here, bob, waits.id);
    await open.cdp?.send("WebAuthn.setUserVerified", {
      authenticatorId: open.authenticator ?? "",
      isUserVerified: false,
    });

    const signed = await view.sign("approve").then(
      () => "signed",
      () => "refused",
    );

    await open.cdp?.send("WebAuthn.setUserVerified", {
      authenticatorId: open.authenticator ?? "",
      isUserVerified: true,
    });
    expect(signed).toBe("refused");
  });

  test("is enrolled once, by its owner in a console session, and removed by nobody else", async () => {
    const { here, bob, passkey, enrolment } = await enrolled();
    const byToken = person(here, "bob", { authentication: { via: "token" } });
    const carol = person(here, "carol", { authentication: { via: "console" } });

    const codes = [
      (await refusal(beginEnrolment(here.ports, byToken))).code,
      (await refusal(enrolPasskey(here.ports, bob, { ...enrolment, name: "again" }))).code,
      (await refusal(enrolPasskey(here.ports, carol, { ...enrolment, name: "stolen" }))).code,
      (
        await refusal(
          enrolPasskey(here.ports, bob, { ...enrolment, ticket: `1.${"a".repeat(22)}`, name: "late" }),
        )
      ).code,
      (await refusal(removePasskey(here.ports, carol, passkey.id))).code,
    ];
    await removePasskey(here.ports, bob, passkey.id);

    expect(codes).toEqual(["forbidden", "invalid", "invalid", "invalid", "not_found"]);
    expect(await listPasskeys(here.ports, bob)).toEqual([]);
  });
});
