import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Asker, jsonAsker } from "../../src/connectors/http/question.ts";
import type { Json } from "../../src/core/json.ts";
import { combine } from "../../src/core/policy.ts";
import { withDecisionPoint } from "../../src/policy/authzen.ts";
import { policyDigest } from "../../src/policy/ruleset.ts";
import type { PolicyQuestion } from "../../src/service/ports.ts";
import { ADA, cedar, PERMITS, policy, stock } from "../support/cedar.ts";
import { CERBOS, needs } from "../support/needs.ts";
import { STOCK_TOOL } from "../support/rig.ts";

const TEXT = policy(PERMITS);
const QUESTION: PolicyQuestion = {
  session: ADA,
  tool: STOCK_TOOL,
  resource: { type: "Item", id: "main/widget", parents: [{ type: "Warehouse", id: "main" }] },
  arguments: stock(18) as PolicyQuestion["arguments"],
  expectedVersion: "7",
  authority: { epoch: 1, offered: "", halts: [], probes: [], policyVersion: `1.${policyDigest(TEXT)}` },
};

async function decided(asker: Asker, question: Partial<PolicyQuestion> = {}, withinMs = 5_000) {
  const { engine } = cedar(TEXT);
  const quiet = () => undefined;
  const log = { info: quiet, warn: quiet, error: quiet };
  const templates = { manager: "stock-manager" };
  const both = withDecisionPoint(engine, { ...asker, templates, withinMs, log });
  return combine(await both.opinions({ ...QUESTION, ...question }), "1", 1);
}

type Handler = (request: IncomingMessage, response: ServerResponse, body: Json) => void;

/** A decision point on this machine. */
async function point(
  handler: Handler,
): Promise<{ readonly asker: Asker; readonly asked: Json[]; readonly base: string }> {
  const asked: Json[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Json;
      asked.push(body);
      handler(request, response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const asker = jsonAsker({ base, token: "pdp-secret", allowPrivate: ["127.0.0.1"] });
  onTestFinished(async () => {
    await asker.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { asker, asked, base };
}

function answers(body: Json, status = 200): Handler {
  return (_request, response) => response.writeHead(status).end(JSON.stringify(body));
}

test("both have to allow: the decision point is asked for the user and for each client", async () => {
  const { asker, asked } = await point(answers({ decision: true }));

  const decision = await decided(asker);

  expect(decision).toMatchObject({ effect: "allow", policies: ["people", "clients", "pdp"] });
  expect(asked).toMatchObject([
    {
      subject: { type: "user", id: ADA.principalId, properties: { roles: ["clerk"] } },
      action: { name: STOCK_TOOL.name },
    },
    {
      subject: { type: "service", id: "agent-1", properties: { roles: [] } },
      resource: { type: "Item", id: "main/widget" },
    },
  ]);
});

test("what our own policy denies is asked nowhere else", async () => {
  const { asker, asked } = await point(answers({ decision: true }));

  expect(await decided(asker, { session: { ...ADA, roles: [] } })).toMatchObject({ effect: "deny" });
  expect(asked).toEqual([]);
});

test("one no is a no, and says whose", async () => {
  const { asker } = await point((_request, response, body) => {
    const { subject } = body as { subject: { type: string } };
    response.end(
      JSON.stringify({
        decision: subject.type === "user",
        context: { reason_user: { en: "not this agent" } },
      }),
    );
  });

  expect(await decided(asker)).toMatchObject({
    effect: "deny",
    why: "the decision point denies it: not this agent",
  });
});

const FAULTS: readonly (readonly [string, Handler])[] = [
  ["500", answers({ decision: true }, 500)],
  ["201", answers({ decision: true }, 201)],
  [
    "a redirect",
    (_request, response) => response.writeHead(307, { location: "/elsewhere" }).end('{"decision":true}'),
  ],
  ["no JSON", (_request, response) => response.end("true")],
  ["cut JSON", (_request, response) => response.end('{"decision":tr')],
  ["a member twice", (_request, response) => response.end('{"decision":false,"decision":true}')],
  ["a text for a decision", answers({ decision: "true" })],
  ["a number for a decision", answers({ decision: 1 })],
  ["no decision", answers({})],
  ["null", answers(null)],
  ["a typo", answers({ decison: true, alow: true })],
  ["a nested decision", answers({ decision: { decision: true } })],
  ["a word", answers({ decision: "ALLOW" })],
  ["a list", answers([{ decision: true }])],
  ["a context that is none", answers({ decision: true, context: "x" })],
  ["a duty that is not known", answers({ decision: true, context: { obligations: [{ type: "step-up" }] } })],
  ["duties in another form", answers({ decision: true, context: { obligations: { id: "x" } } })],
  ["too much", answers({ decision: true, context: { text: "x".repeat(100_000) } })],
  ["an end before the answer", (_request, response) => response.destroy()],
  ["silence", () => undefined],
];

test.each(FAULTS)("C127: %s is a no", async (_name, handler) => {
  const { asker } = await point(handler);

  expect(await decided(asker, {}, 400)).toMatchObject({ effect: "deny", policies: ["pdp"] });
});

test("nobody there, and an address that the settings do not allow, are a no", async () => {
  const { asker: _open, base } = await point(answers({ decision: true }));
  const walled = jsonAsker({ base });
  const away = jsonAsker({ base: "http://127.0.0.1:9", allowPrivate: true });
  onTestFinished(async () => {
    await walled.close();
    await away.close();
  });

  expect(await decided(walled)).toMatchObject({ effect: "deny" });
  expect(await decided(away)).toMatchObject({ effect: "deny" });
});

test("a denial that names a known template asks the role that the operator chose, and nobody else", async () => {
  const of = async (context: Json) => decided((await point(answers({ decision: false, context }))).asker);

  expect(
    await of({ access_request: { template: "manager", endpoint: "https://evil.example" } }),
  ).toMatchObject({
    effect: "review",
    requirements: [{ policy: "pdp.manager", role: "stock-manager", quorum: 1, by: "second_person" }],
  });
  for (const template of ["other", "constructor", 1, null])
    expect(await of({ access_request: { template } }), String(template)).toMatchObject({ effect: "deny" });
  expect(await of({ access_request: { template: "manager" }, obligations: [{}] })).toMatchObject({
    effect: "deny",
  });
});

const CERBOS_POLICY = `apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: Item
  rules:
    - actions: ["inventory.set_available"]
      effect: EFFECT_ALLOW
      roles: ["user"]
      condition: { match: { expr: "'clerk' in request.principal.attr.roles && request.resource.attr.tenant == 'acme'" } }
    - actions: ["*"]
      effect: EFFECT_ALLOW
      roles: ["service"]
      condition: { match: { expr: "request.principal.id != 'agent-bad'" } }
`;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A real Cerbos, until the test ends. */
async function cerbos(): Promise<Asker> {
  const folder = mkdtempSync(join(tmpdir(), "writ-cerbos-"));
  writeFileSync(join(folder, "item.yaml"), CERBOS_POLICY);
  const [http, grpc] = [await freePort(), await freePort()];
  const set = {
    "server.httpListenAddr": `127.0.0.1:${http}`,
    "server.grpcListenAddr": `127.0.0.1:${grpc}`,
    "storage.driver": "disk",
    "storage.disk.directory": folder,
    "telemetry.disabled": "true",
  };
  const flags = Object.entries(set).map(([name, value]) => `--set=${name}=${value}`);
  const child: ChildProcess = spawn(CERBOS, ["server", ...flags], { stdio: ["ignore", "pipe", "pipe"] });
  const asker = jsonAsker({ base: `http://127.0.0.1:${http}`, allowPrivate: ["127.0.0.1"] });
  onTestFinished(async () => {
    await asker.close();
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  // It says so when it listens.
  await new Promise<void>((resolve, reject) => {
    let said = "";
    const hear = (chunk: Buffer): void => {
      said += chunk.toString();
      if (said.includes("Starting HTTP server")) resolve();
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("exit", () => reject(new Error(said)));
  });
  return asker;
}

needs("cerbos")("a real Cerbos decides beside our own policy", { timeout: 60_000 }, async () => {
  const asker = await cerbos();

  // It says that it starts a moment before it listens: the first answer is waited for.
  await expect
    .poll(() => decided(asker), { timeout: 20_000 })
    .toMatchObject({ effect: "allow", policies: ["people", "clients", "pdp"] });
  expect(await decided(asker, { session: { ...ADA, clientId: "agent-bad" } })).toMatchObject({
    effect: "deny",
    policies: ["pdp"],
  });
  const order = { ...QUESTION.resource, type: "Order" };
  expect(await decided(asker, { resource: order })).toMatchObject({ effect: "deny" });
});
