import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, chromium, type Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { type Development, development } from "../support/development.ts";
import { CHROMIUM, needs } from "../support/needs.ts";

const test = needs("chromium");
const TIMEOUT_MS = 120_000;

async function browser(): Promise<Browser> {
  const opened = await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  onTestFinished(() => opened.close());
  return opened;
}

async function signIn(page: Page, here: Development, person: string, next: string): Promise<void> {
  await page.goto(`${here.url}/login?next=${next}`);
  expect(page.url()).toContain(`${here.issuer.url}/login/`);
  await page.getByRole("button", { name: person }).click();
  await page.waitForURL(`${here.url}${next}`);
}

/** A call as the console makes it, from the page that is open. */
function call(
  page: Page,
  method: string,
  path: string,
): Promise<{ readonly status: number; readonly text: string }> {
  // A page of ours has no script of its own, and its policy forbids it to ask; what is evaluated here stands for the console's.
  return page.evaluate(
    async ([verb, where]) => {
      const reply = await fetch(where, {
        method: verb,
        headers: { "writ-console": "1", "content-type": "application/json" },
        body: verb === "POST" ? "{}" : null,
      });
      return { status: reply.status, text: await reply.text() };
    },
    [method, path] as const,
  );
}

test(
  "A40: in a real browser a person signs in, is known by a cookie that no script reads, and signs out",
  async () => {
    const here = await development();
    const context = await (await browser()).newContext({ bypassCSP: true });
    const page = await context.newPage();
    await signIn(page, here, "ben", "/docs");

    const [cookie] = (await context.cookies(here.url)).filter(({ name }) => name.startsWith("writ-session"));
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" });
    expect(await page.evaluate("document.cookie")).toBe("");
    const me = await call(page, "GET", "/v1/me");
    expect([me.status, JSON.parse(me.text)]).toMatchObject([
      200,
      { principal: "development#ben", via: "console" },
    ]);

    expect((await call(page, "POST", "/logout")).status).toBe(204);
    expect((await call(page, "GET", "/v1/me")).status).toBe(401);
    expect((await context.cookies(here.url)).filter(({ name }) => name.startsWith("writ-session"))).toEqual(
      [],
    );
  },
  TIMEOUT_MS,
);

test(
  "A40: a page of another origin changes nothing in the name of whoever is signed in, and cannot frame what they see",
  async () => {
    const here = await development();
    const attack = createServer((_request, response) => {
      response.setHeader("content-type", "text/html");
      response.end(`<iframe src="${here.url}/docs"></iframe>
        <form method="post" enctype="text/plain" action="${here.url}/v1/halts"><input name='{"scope":"tenant","reason":"' value='x"}'></form>`);
    });
    await new Promise<void>((listening) => attack.listen(0, "127.0.0.1", listening));
    onTestFinished(() => void attack.close());
    const evil = `http://127.0.0.1:${(attack.address() as AddressInfo).port}`; // It listens on TCP.
    const context = await (await browser()).newContext();
    const page = await context.newPage();
    await signIn(page, here, "cleo", "/docs");

    await page.goto(evil);
    const statuses = await page.evaluate(async (url) => {
      const ask = (init: RequestInit) =>
        fetch(`${url}/v1/halts`, { method: "POST", credentials: "include", ...init });
      const body = '{"scope":"tenant","reason":"csrf"}';
      const simple = await ask({ mode: "no-cors", body }).then(
        (reply) => reply.type,
        () => "refused",
      );
      const marked = await ask({
        headers: { "writ-console": "1", "content-type": "application/json" },
        body,
      }).then(
        (reply) => String(reply.status),
        () => "refused",
      );
      return [simple, marked];
    }, here.url);
    const form = page.waitForResponse(`${here.url}/v1/halts`);
    await page.evaluate("document.forms[0].submit()");

    expect(statuses[1]).toBe("refused");
    expect((await form).status()).toBe(403);
    expect(page.frames().map((frame) => frame.url())).not.toContain(`${here.url}/docs`);
    await page.waitForLoadState();
    const standing = await context.request.get(`${here.url}/v1/halts`);
    expect(await standing.json()).toMatchObject({ halts: [] });
  },
  TIMEOUT_MS,
);
