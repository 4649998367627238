import { connect } from "node:net";
import { expect, test } from "vitest";
import { door } from "../support/door.ts";
import { exchange } from "../support/exchange.ts";
import { rig } from "../support/rig.ts";

/** Bytes as they are, and all that comes back. */
function bytes(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let heard = "";
    socket.on("data", (part) => {
      heard += part.toString("utf8");
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(heard));
  });
}

test("over loopback only this machine's names are answered, and those that the operator gave", async () => {
  const here = await rig();
  const { call, port } = await door(here, { settings: { hosts: ["writ.acme.example"] } });
  const host = async (name: string) => (await call("GET", "/healthz", { headers: { host: name } })).status;

  expect(
    await Promise.all(["localhost", "127.0.0.1", "[::1]"].map((name) => host(`${name}:${port}`))),
  ).toEqual([200, 200, 200]);
  expect(await host("writ.acme.example")).toBe(200);
  expect(
    await Promise.all(
      [
        "evil.example",
        `evil.example:${port}`,
        "localhost",
        "localhost:1",
        `localhost:${port}.evil.example`,
        "169.254.169.254",
      ].map(host),
    ),
  ).toEqual(Array(6).fill(421));
});

test("no page of another origin drives this, unless the operator named it", async () => {
  const here = await rig();
  const { call, port } = await door(here, { settings: { origins: ["https://console.acme.example"] } });
  const ask = (origin: string, method = "GET", path = "/v1/tools") =>
    call(method, path, { headers: { origin } });

  for (const origin of [
    "https://evil.example",
    "null",
    "",
    `http://localhost:${port + 1}`,
    `https://console.acme.example.evil.example`,
  ]) {
    expect(await ask(origin)).toMatchObject({ status: 403, body: { code: "forbidden", at: "Origin" } });
  }
  expect((await ask(`http://127.0.0.1:${port}`)).status).toBe(200);
  const named = await ask("https://console.acme.example");
  expect(named).toMatchObject({
    status: 200,
    headers: { "access-control-allow-origin": "https://console.acme.example", vary: "origin" },
  });
  expect(named.headers["access-control-allow-credentials"]).toBeUndefined();
});

test("a page that the operator named may ask beforehand, and no other", async () => {
  const here = await rig();
  const { call } = await door(here, { settings: { origins: ["https://console.acme.example"] } });
  const preflight = (origin: string) =>
    call("OPTIONS", "/v1/operations", {
      as: null,
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type",
      },
    });

  const named = await preflight("https://console.acme.example");
  const other = await preflight("https://evil.example");

  expect(named).toMatchObject({
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, HEAD, POST",
      "access-control-allow-headers": expect.stringContaining("idempotency-key"),
    },
  });
  expect(other.status).toBe(403);
  expect(other.headers["access-control-allow-origin"]).toBeUndefined();
});

test("two headers of which one must count are refused", async () => {
  const { port } = await door(await rig());
  const here = `127.0.0.1:${port}`;

  for (const name of [
    "authorization",
    "host",
    "content-type",
    "origin",
    "last-event-id",
    "idempotency-key",
  ]) {
    const first = name === "host" ? "" : `Host: ${here}\r\n`;
    const said = await bytes(
      port,
      `GET /healthz HTTP/1.1\r\n${first}${name}: ${here}\r\n${name}: ${here}\r\nConnection: close\r\n\r\n`,
    );
    expect(said).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(said.split("\r\n\r\n")[1] ?? "")).toMatchObject({ code: "invalid_request", at: name });
  }
});

test("an unknown path is 404, another method 405 with those that are taken", async () => {
  const here = await rig();
  const { call } = await door(here);

  expect(await call("GET", "/v2/operations")).toMatchObject({ status: 404, body: { code: "not_found" } });
  for (const [method, path, allow] of [
    ["DELETE", "/v1/operations", "GET, HEAD, POST"],
    ["PUT", `/v1/operations/op_${"a".repeat(32)}`, "GET, HEAD"],
    ["GET", "/v1/halts/halt_1/lift", "POST"],
    ["HEAD", "/v1/events", "GET"],
    ["POST", "/healthz", "GET, HEAD"],
    ["OPTIONS", "/v1/tools", "GET, HEAD"],
  ]) {
    const answer = await call(method ?? "", path ?? "", {
      as: null,
      ...(method === "PUT" ? { body: "{", headers: { "content-type": "application/json" } } : {}),
    });
    expect(answer).toMatchObject({ status: 405, headers: { allow } });
  }
});

test("a HEAD is a GET without its body", async () => {
  const here = await rig();
  const { call } = await door(here);

  const got = await call("GET", "/v1/tools");
  const head = await call("HEAD", "/v1/tools");

  expect(head).toMatchObject({
    status: 200,
    text: "",
    headers: { "content-length": got.headers["content-length"] },
  });
});

test("every answer carries the headers that keep browsers honest, also when it refuses", async () => {
  const here = await rig();
  const { call } = await door(here);

  for (const path of ["/v1/tools", "/nothing", "/healthz", "/v1/operations?x=1", "/%zz"]) {
    expect((await call("GET", path)).headers).toMatchObject({
      "content-security-policy": expect.stringContaining("default-src 'none'"),
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "cross-origin-resource-policy": "same-origin",
    });
  }
});

test("an address that cannot be read is a problem like any other", async () => {
  const here = await rig();
  const { call } = await door(here);

  expect(await call("GET", "/v1/operations/%zz")).toMatchObject({ status: 400, body: { code: "malformed" } });
});

test("what the parser refuses is a problem too", async () => {
  const { port } = await door(await rig());
  const host = `Host: 127.0.0.1:${port}\r\n`;
  const problem = async (text: string) => {
    const said = await bytes(port, text);
    return { line: said.split("\r\n")[0], ...JSON.parse(said.split("\r\n\r\n")[1] ?? "") };
  };

  expect(await problem("NONSENSE\r\n\r\n")).toMatchObject({
    line: "HTTP/1.1 400 Bad Request",
    code: "malformed",
    status: 400,
  });
  expect(await problem(`GET / HTTP/1.1\r\n${host}X: ${"x".repeat(20_000)}\r\n\r\n`)).toMatchObject({
    line: "HTTP/1.1 431 Request Header Fields Too Large",
    code: "headers_too_large",
  });
  expect(
    await problem(`POST /v1/operations HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`),
  ).toMatchObject({ code: "malformed" });
});

test("a request that does not arrive whole in time is let go", async () => {
  const { port, token } = await door(await rig(), { settings: { bounds: { requestMaxMs: 300 } } });
  const headers = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${await token()}\r\nContent-Type: application/json\r\nContent-Length: 100`;

  const said = await bytes(port, `POST /v1/operations HTTP/1.1\r\n${headers}\r\n\r\n{`);

  expect(said).toMatch(/^HTTP\/1\.1 408 Request Timeout/);
  expect(JSON.parse(said.split("\r\n\r\n")[1] ?? "")).toMatchObject({ code: "request_timeout" });
});

test("while the server closes, what still arrives is answered in our own form", async () => {
  const here = await rig();
  const { app, port } = await door(here);
  await app.close();

  await expect(exchange(port, "GET", "/healthz", {})).rejects.toThrow();
});
