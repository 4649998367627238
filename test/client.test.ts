import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { type Client, Refused, Unanswered, writClient } from "../src/client.ts";

interface Heard {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A server that answers each call as the next of these says; the last one goes on. */
async function answering(
  ...answers: readonly ((response: ServerResponse) => void)[]
): Promise<{ readonly client: Client; readonly heard: readonly Heard[] }> {
  const heard: Heard[] = [];
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      heard.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body });
      (answers[heard.length - 1] ?? answers.at(-1))?.(response);
    });
  });
  await new Promise<void>((done) => server?.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return {
    client: writClient({ url: `http://127.0.0.1:${port}/`, token: "t0ken", timeoutMs: 2_000 }),
    heard,
  };
}

const says =
  (status: number, body: object, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(JSON.stringify(body));
const drops = (response: ServerResponse) => void response.socket?.destroy();
const breaksOff = (response: ServerResponse) => {
  response.writeHead(200, { "content-length": "100" }).write('{"state":', () => response.socket?.destroy());
};

const proposal = { tool: "a.b", arguments: {} };
const done = { operationId: "op_1", state: "succeeded" };

test("every proposal carries a key of its own", async () => {
  const { client, heard } = await answering(says(200, done));

  await client.propose(proposal);
  await client.propose(proposal);

  const keys = heard.map(({ headers }) => headers["idempotency-key"]);
  expect(keys[0]).toMatch(/^"[0-9a-f]{32}"$/);
  expect(keys[1]).not.toBe(keys[0]);
});

test.each([
  ["nobody answers", drops],
  ["the answer breaks off", breaksOff],
  ["something in between answers", (response: ServerResponse) => void response.writeHead(200).end("<html>")],
])("when %s, the same proposal goes out again under the same key", async (_what, trouble) => {
  const { client, heard } = await answering(trouble, trouble, says(200, { ...done, how: "replayed" }));

  expect(await client.propose(proposal)).toMatchObject({ how: "replayed" });

  expect(new Set(heard.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  expect(new Set(heard.map(({ body }) => body)).size).toBe(1);
  expect(heard).toHaveLength(3);
});

test("when no answer comes at all, the caller is given the key that was used", async () => {
  const { client, heard } = await answering(drops);

  const error = await client.propose(proposal, { intentKey: "my-intent" }).catch((thrown: unknown) => thrown);

  expect(error).toBeInstanceOf(Unanswered);
  expect(error).toMatchObject({ intentKey: "my-intent" });
  expect(heard.length).toBeGreaterThan(1);
});

test("a refusal is Writ's problem, and is not asked for again", async () => {
  const problem = { type: "x", title: "x", status: 429, detail: "slowly", code: "limit_exceeded" };
  const { client, heard } = await answering(says(429, problem, { "retry-after": "7" }));

  const error = await client.propose(proposal).catch((thrown: unknown) => thrown);

  expect(error).toBeInstanceOf(Refused);
  expect(error).toMatchObject({ problem, retryAfterMs: 7_000, message: "slowly" });
  expect(heard).toHaveLength(1);
});

test("what is no answer of Writ's says nothing about the operation", async () => {
  const { client } = await answering((response) => void response.writeHead(502).end("Bad Gateway"));

  const error = await client.get("op_1").catch((thrown: unknown) => thrown);

  expect(error).toMatchObject({ problem: { code: "internal", status: 502 } });
});

test("what would count twice is sent once", async () => {
  const { client, heard } = await answering(drops);

  await expect(client.halt({ scope: "tenant", reason: "why" })).rejects.toBeInstanceOf(Unanswered);
  await expect(
    client.resolve("op_1", { finding: "absent", digest: "d", evidence: { reference: "r", note: "n" } }),
  ).rejects.toBeInstanceOf(Unanswered);

  expect(heard.map(({ url }) => url)).toEqual(["/v1/halts", "/v1/operations/op_1/findings"]);
});

test("the token follows no redirect", async () => {
  const { client, heard } = await answering(
    (response) => void response.writeHead(307, { location: "/elsewhere" }).end(),
  );

  await expect(client.get("op_1")).rejects.toBeInstanceOf(Unanswered);

  expect(heard.map(({ url }) => url)).not.toContain("/elsewhere");
});

test("waiting ends when the operation has settled, needs a person, or the time is over", async () => {
  const unsettled = { operationId: "op_1", state: "unknown" };
  const { client, heard } = await answering(
    says(200, unsettled),
    says(200, { ...unsettled, attention: "why" }),
    says(200, unsettled),
  );

  expect(await client.wait("op_1", 10_000)).toMatchObject({ attention: "why" });
  expect(await client.wait("op_1", 0)).toEqual(unsettled);

  expect(heard[0]?.url).toBe("/v1/operations/op_1?wait=2");
});

test("an id from somewhere else cannot lead to another address", async () => {
  const { client, heard } = await answering(says(200, done));

  await client.get("../halts?x=1");

  expect(heard[0]?.url).toBe("/v1/operations/..%2Fhalts%3Fx%3D1");
});
