import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { door } from "../support/door.ts";
import { rig } from "../support/rig.ts";

test("health needs nothing, readiness needs the database, and says what is lacking", async () => {
  const here = await rig();
  let ready = true;
  const { call } = await door(here, {
    ready: async () => ({
      ready,
      checks: [
        { name: "database", ok: true },
        { name: "migrations", ok: ready, ...(ready ? {} : { says: "missing: 0002" }) },
      ],
    }),
  });

  expect(await call("GET", "/healthz", { as: null })).toMatchObject({ status: 200, body: { status: "ok" } });
  expect(await call("GET", "/readyz", { as: null })).toMatchObject({ status: 200, body: { ready: true } });
  ready = false;
  expect(await call("GET", "/readyz", { as: null })).toMatchObject({
    status: 503,
    body: { code: "not_ready", detail: "not ready: migrations: missing: 0002" },
  });
  expect((await call("GET", "/healthz", { as: null })).status).toBe(200);
});

test("the keys of receipts are public, and only their public halves", async () => {
  const here = await rig();
  const { call } = await door(here);

  const { body, headers } = await call("GET", "/.well-known/jwks.json", { as: null });

  expect(headers["content-type"]).toBe("application/jwk-set+json; charset=utf-8");
  expect(body.keys).toMatchObject([
    { kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig", x: expect.any(String), kid: expect.any(String) },
  ]);
  expect(JSON.stringify(body)).not.toContain('"d"');
});

test("the OpenAPI document is complete: every route, named; every reference answered; every schema sound", async () => {
  const here = await rig();
  const { app, call, openapi } = await door(here);
  const routes: string[] = [];
  for (const line of app.printRoutes({ commonPrefix: false, includeMeta: false }).split("\n")) {
    const [, path = "", methods = ""] = /^\S+\s(\/\S*) \((.*)\)$/.exec(line) ?? [];
    for (const method of methods.split(", ")) if (path !== "") routes.push(`${method} ${path}`);
  }
  const ids = Object.values(openapi.paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  );

  const { body } = await call("GET", "/openapi.json", { as: null });

  expect(body.openapi).toBe("3.1.0");
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThan(20);
  for (const ref of JSON.stringify(body).matchAll(/"\$ref":"#\/components\/schemas\/([A-Za-z]+)"/g)) {
    expect(Object.keys(body.components.schemas)).toContain(ref[1]);
  }
  for (const schema of Object.values(body.components.schemas)) {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    expect(() => ajv.compile({ ...(schema as object), components: body.components })).not.toThrow();
  }
  for (const [path, item] of Object.entries<Record<string, { security?: unknown }>>(body.paths)) {
    for (const described of Object.values(item))
      expect({ path, secured: described.security !== undefined }).toEqual({
        path,
        // A browser session has an end of its own; everything else outside of /v1 is for everybody.
        secured: path.startsWith("/v1/") || path === "/logout",
      });
  }
});

test("the pages for people ask nothing of anybody else and run nothing", async () => {
  const here = await rig();
  const { call } = await door(here);

  for (const path of ["/", "/docs"]) {
    const { headers, text } = await call("GET", path, { as: null });
    const policy = String(headers["content-security-policy"]);

    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(text).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\sstyle=|\son[a-z]+=|href="(?!\/|#)/);
    expect(text).toContain('<meta name="color-scheme" content="light dark">');
  }
});

test("the page of the interface shows every call, every status and every shape", async () => {
  const here = await rig();
  const { call, openapi } = await door(here);

  const { text } = await call("GET", "/docs", { as: null });

  for (const path of Object.keys(openapi.paths)) expect(text).toContain(`<span class="path">${path}</span>`);
  for (const name of Object.keys(openapi.components.schemas)) expect(text).toContain(`id="shape-${name}"`);
  for (const [, target = ""] of text.matchAll(/href="#([^"]+)"/g)) expect(text).toContain(`id="${target}"`);
});
