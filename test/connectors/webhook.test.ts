import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { webhookNotifier } from "../../src/connectors/http/webhook.ts";
import { processClock } from "../../src/host/clock.ts";

const question = { tenantId: "acme" as never, id: "op_1.1", operationId: "op_1" };

/** Somebody who listens, and what they heard. */
async function listener(answer: (request: IncomingMessage) => number | "silence" = () => 204) {
  const heard: { body: unknown; key: unknown }[] = [];
  const server = createServer((request, reply) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      heard.push({
        body: JSON.parse(Buffer.concat(parts).toString("utf8")),
        key: request.headers["idempotency-key"],
      });
      const status = answer(request);
      if (status === "silence") return;
      reply.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { heard, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

function notifier(url: string, allowPrivate: readonly string[] | false = ["127.0.0.1"]) {
  const warnings: string[] = [];
  const quiet = () => undefined;
  const log = {
    info: quiet,
    error: quiet,
    warn: (_event: string, fields: object) => void warnings.push(JSON.stringify(fields)),
  };
  const made = webhookNotifier({
    url,
    allowPrivate,
    publicUrl: () => "https://writ.example",
    log,
    clock: processClock,
  });
  return { made, warnings };
}

test("A17: whoever listens gets an opaque link and an id that is the same for the same question, and nothing else", async () => {
  const { heard, url } = await listener();
  const { made } = notifier(url);

  made.waiting(question);
  made.waiting(question);
  await made.close();

  expect(heard.map(({ key }) => key)).toEqual(["op_1.1", "op_1.1"]);
  expect(heard[0]?.body).toEqual({
    id: "op_1.1",
    type: "approval.waiting",
    link: "https://writ.example/approvals/op_1",
    at: expect.any(String),
  });
});

test("a hook that fails or redirects changes nothing but a line in the log, and is not asked again", async () => {
  const { heard, url } = await listener((request) => (request.url === "/hook" ? 302 : 500));
  const { made, warnings } = notifier(url);

  made.waiting(question);
  await made.close();

  expect(heard).toHaveLength(1);
  expect(warnings).toEqual([expect.stringContaining("302")]);
});

test("an address that the operator did not allow is never connected to", async () => {
  const { heard, url } = await listener();
  const { made, warnings } = notifier(url, false);

  made.waiting(question);
  await made.close();

  expect(heard).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining("not public")]);
});

test("a flood is bounded: what is more than a few at a time is left out", async () => {
  const { heard, url } = await listener();
  const { made, warnings } = notifier(url);

  for (let n = 0; n < 100; n++) made.waiting({ ...question, id: `op_${n}.1` });
  await made.close();

  expect(heard).toHaveLength(16);
  expect(warnings).toHaveLength(84);
});
