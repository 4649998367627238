import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseGuarantees } from "../../src/connectors/simulated/guarantees.ts";
import { startSimulated } from "../../src/connectors/simulated/provider.ts";
import { closeAfter, shop } from "./rig.ts";

interface Told {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
}

async function ask(
  url: string,
  method: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Told> {
  const response = await fetch(url, {
    method,
    headers,
    redirect: "manual",
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
    headers: response.headers,
  };
}

const ORDER = { item: "main/bolt", quantity: 2, writ: { operation: "op_1", digest: "sha-256:x" } };

test("an order is a relative effect: twice is twice, and the journal counts both", async () => {
  const provider = await shop();

  await ask(`${provider.url}/orders`, "POST", ORDER);
  await ask(`${provider.url}/orders`, "POST", ORDER);

  expect(provider.effectsOf("op_1").map(({ n, kind, by }) => [n, kind, by])).toEqual([
    [2, "order", "request"],
    [3, "order", "request"],
  ]);
  expect((await ask(`${provider.url}/items/main/bolt`, "GET")).body).toMatchObject({ available: 16 });
});

test("a key is remembered for its retention, for one content, quoted or bare", async () => {
  const provider = await shop({ key: { retentionMs: 1000, after: "refuses" } });
  const post = (key: string, body: object) =>
    ask(`${provider.url}/orders`, "POST", body, { "idempotency-key": key });

  const answers = [
    await post('"k"', ORDER),
    await post("k", ORDER),
    await post("k", { ...ORDER, quantity: 3 }),
  ];
  provider.advance(1000);
  answers.push(await post("k", ORDER));

  expect(answers.map(({ status, headers }) => [status, headers.get("idempotency-replayed")])).toEqual([
    [201, null],
    [201, "true"],
    [422, null],
    [410, null],
  ]);
  expect(provider.effectsOf("k")).toHaveLength(1);
});

test("a refusal is replayed for its key too", async () => {
  const provider = await shop({ key: { retentionMs: null, after: "executes" } });
  const post = () =>
    ask(`${provider.url}/orders`, "POST", { ...ORDER, quantity: 500 }, { "idempotency-key": "k" });
  const first = await post();
  provider.setItem("main/bolt", 1000);

  expect([first.body.error, (await post()).body.error]).toEqual(["out_of_stock", "out_of_stock"]);
});

test.each([
  ["replays", [201, 1]],
  ["executes", [201, 2]],
] as const)("a provider that %s another content under one key does so", async (mismatch, expected) => {
  const provider = await shop({ key: { retentionMs: null, after: "executes", mismatch } });
  await ask(`${provider.url}/orders`, "POST", ORDER, { "idempotency-key": "k" });

  const { status } = await ask(
    `${provider.url}/orders`,
    "POST",
    { ...ORDER, quantity: 3 },
    { "idempotency-key": "k" },
  );

  expect([status, provider.effectsOf("k").length]).toEqual(expected);
});

test("without a guarantee there is neither key, tag, lookup nor tombstone", async () => {
  const provider = await shop();
  await ask(`${provider.url}/orders`, "POST", ORDER, { "idempotency-key": "k" });
  await ask(`${provider.url}/orders`, "POST", ORDER, { "idempotency-key": "k" });

  const { headers } = await ask(
    `${provider.url}/items/main/bolt`,
    "PUT",
    { available: 5, writ: ORDER.writ },
    { "if-match": '"old"' },
  );
  const asked = [
    await ask(`${provider.url}/operations/op_1`, "GET"),
    await ask(`${provider.url}/operations/op_1/tombstone`, "PUT"),
  ];

  expect(provider.effectsOf("op_1")).toHaveLength(3);
  expect(headers.get("etag")).toBeNull();
  expect(asked.map(({ body }) => body.error)).toEqual(["no_such_route", "no_such_route"]);
  expect((await ask(`${provider.url}/items/main/bolt`, "GET")).body).not.toHaveProperty("writ");
});

test("a strong tag must be sent, is compared and set in one step, and never returns", async () => {
  const provider = await shop({ etag: "strong" });
  const put = (available: number, tag?: string) =>
    ask(
      `${provider.url}/items/main/bolt`,
      "PUT",
      { available },
      tag === undefined ? {} : { "if-match": tag },
    );

  const race = await Promise.all([1, 2, 3, 4].map((available) => put(available, '"v1"')));
  const back = await put(20, '"v2"');

  expect(race.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
  expect([(await put(1)).status, back.headers.get("etag")]).toEqual([428, '"v3"']);
});

describe("a fault", () => {
  test("strikes as often as it was told, and only what it was told", async () => {
    const provider = await shop();
    provider.fault("throttle", { times: 2, match: { method: "POST", path: "/orders", operation: "op_1" } });
    const post = async (operation: string) =>
      (await ask(`${provider.url}/orders`, "POST", { ...ORDER, writ: { operation } })).status;

    const statuses = [await post("op_2"), await post("op_1"), await post("op_1"), await post("op_1")];

    expect(statuses).toEqual([201, 429, 429, 201]);
  });

  test("comes with one request in its header", async () => {
    const provider = await shop();

    expect((await ask(`${provider.url}/orders`, "POST", ORDER, { "writ-fault": "error_after" })).status).toBe(
      500,
    );
    expect(provider.effectsOf("op_1")).toHaveLength(1);
  });

  test("stays until it is cleared when it is set for always", async () => {
    const provider = await shop();
    provider.fault("error_before", { times: "always" });
    const post = async () => (await ask(`${provider.url}/orders`, "POST", ORDER)).status;
    const struck = [await post(), await post()];

    provider.clearFaults();

    expect([...struck, await post()]).toEqual([503, 503, 201]);
  });
});

test("the controls do over HTTP what the programmatic face does, and are not counted as requests", async () => {
  const provider = await shop({ lookup: { lagMs: 5000 } });
  const control = (method: string, path: string, body?: object) =>
    ask(`${provider.url}/__writ/${path}`, method, body);
  await control("POST", "faults", { kind: "throttle", times: "always", match: { path: "/orders" } });
  const struck = (await ask(`${provider.url}/orders`, "POST", ORDER)).status;
  await control("DELETE", "faults");
  await control("POST", "items", { resource: "main/bolt", available: 9, by: "somebody else" });
  await ask(`${provider.url}/orders`, "POST", ORDER);
  const hidden = (await ask(`${provider.url}/operations/op_1`, "GET")).status;
  await control("POST", "clock", { advanceMs: 5000 });

  expect([struck, hidden, (await ask(`${provider.url}/operations/op_1`, "GET")).body.state]).toEqual([
    429,
    404,
    "applied",
  ]);
  expect((await control("GET", "effects/op_1")).body.effects).toHaveLength(1);
  expect((await control("GET", "journal")).body.effects).toHaveLength(3);
  expect((await control("GET", "requests")).body.requests).toHaveLength(4);
  expect((await control("GET", "faults")).body.faults).toEqual([]);
  expect((await control("POST", "faults", { kind: "meteor" })).status).toBe(400);
  expect((await control("GET", "nothing")).status).toBe(404);
});

test("a misspelt guarantee is refused, not ignored", () => {
  expect(() => parseGuarantees('{"etags":"strong"}')).toThrow('"etags" is no guarantee');
  expect(parseGuarantees('{"etag":"strong"}')).toEqual({ etag: "strong" });
});

describe("as a process of its own", () => {
  const folder = mkdtempSync(join(tmpdir(), "writ-simulated-"));
  const guarantees = JSON.stringify({
    key: { retentionMs: null, after: "executes" },
    lookup: { lagMs: 0 },
    tombstone: true,
  });

  beforeAll(async () => {
    const entry = fileURLToPath(new URL("../../src/connectors/simulated/main.ts", import.meta.url));
    await build({
      configFile: false,
      logLevel: "silent",
      build: {
        ssr: entry,
        outDir: folder,
        target: "node20",
        rollupOptions: { output: { entryFileNames: "main.mjs" } },
      },
    });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function start(journal: string): Promise<{ readonly url: string; readonly child: ChildProcess }> {
    const args = [
      join(folder, "main.mjs"),
      "--guarantees",
      guarantees,
      "--journal",
      journal,
      "--item",
      "main/bolt=20",
    ];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    closeAfter(async () => void child.kill("SIGKILL"));
    const line = await new Promise<string>((resolve) =>
      child.stdout?.once("data", (data: Buffer) => resolve(data.toString())),
    );
    return { url: (JSON.parse(line) as { url: string }).url, child };
  }

  test("it may be killed and knows afterwards what it had done: effects, keys and tombstones", async () => {
    const journal = join(folder, "journal.jsonl");
    const first = await start(journal);
    await ask(`${first.url}/orders`, "POST", ORDER, { "idempotency-key": "k" });
    await ask(`${first.url}/operations/op_9/tombstone`, "PUT");
    const dead = new Promise((resolve) => first.child.once("exit", resolve));
    first.child.kill("SIGKILL");
    await dead;
    // A line that was being written when the power went.
    appendFileSync(journal, '{"type":"effect","effe');

    const second = await start(journal);
    const replayed = await ask(`${second.url}/orders`, "POST", ORDER, { "idempotency-key": "k" });
    const barred = await ask(
      `${second.url}/orders`,
      "POST",
      { ...ORDER, writ: { operation: "op_9" } },
      { "idempotency-key": "k9" },
    );

    expect([replayed.status, replayed.headers.get("idempotency-replayed"), barred.status]).toEqual([
      201,
      "true",
      409,
    ]);
    expect((await ask(`${second.url}/__writ/effects/op_1`, "GET")).body.effects).toHaveLength(1);
    expect((await ask(`${second.url}/items/main/bolt`, "GET")).body).toMatchObject({ available: 18 });
    for (const line of readFileSync(journal, "utf8").trim().split("\n"))
      expect(() => JSON.parse(line)).not.toThrow();
  });

  test("a port that is taken is said at once", async () => {
    const provider = await shop();

    await expect(startSimulated({ guarantees: {}, port: provider.port })).rejects.toThrow("EADDRINUSE");
  });
});
