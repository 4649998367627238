import { afterAll, beforeAll, describe, expect, onTestFinished } from "vitest";
import type { Operation } from "../../src/core/operation.ts";
import type { Tool } from "../../src/core/tool.ts";
import type { Stoppable } from "../servers/server.ts";
import { movableClock } from "../support/clock.ts";
import { needs } from "../support/needs.ts";
import { type Rig, rig } from "../support/rig.ts";
import { CUT_POINTS, type CuttingProxy, cuttingProxy } from "./cutting-proxy.ts";
import type { Row } from "./row.ts";
import { CASES, type Case, type Subject, type Watched } from "./subject.ts";

/**
 * The conformance suite: one connector with its contract on one real server, directly and over a wire that is cut, through the whole
 * path of an operation. Each case ends with the effects counted at the server, and is one row of the table of results.
 */
export function conform<Running extends Stoppable>(subject: Subject<Running>): void {
  const test = needs(subject.server);
  describe(`${subject.server.name}: ${subject.name}`, () => {
    let running: Running | undefined;
    const watched: { readonly of: Watched; readonly effects: number }[] = [];
    beforeAll(async () => {
      if (subject.server.installed() === undefined) running = await subject.server.start();
    }, 120_000);
    afterAll(async () => {
      await running?.stop();
    });
    for (const which of CASES.filter((each) => subject.ends[each] !== undefined))
      test(which, async ({ task }) => {
        if (running === undefined) throw new Error("the server was not started");
        const { row, of } = await tryCase(subject, running, which);
        watched.push({ of, effects: row.seen.effects });
        task.meta.conformance = row;
        expect(row.seen).toMatchObject(row.claimed);
      }, 60_000);
    test("no effect appears later", async () => {
      for (const { of, effects } of watched)
        expect(running && (await subject.effects(running, of))).toBe(effects);
    });
  });
}

/** Takes one write through one case, to its end. Called within a test, which closes what is opened here. */
export async function tryCase<Running extends Stoppable>(
  subject: Subject<Running>,
  running: Running,
  which: Case,
): Promise<{ readonly row: Row; readonly of: Watched }> {
  const began = Date.now();
  const claimed = subject.ends[which];
  if (claimed === undefined) throw new Error(`the subject says nothing about "${which}"`);
  const proxy = which === "direct" ? undefined : await proxyTo(subject, running);
  const connector = await subject.connect(running, proxy ?? subject.address(running));
  onTestFinished(() => connector.close?.());
  const here = await rig({ tools: [toolOf(subject)], connectors: { [PROVIDER]: connector } });
  const clock = await movableClock(here);
  // A name of its own for every case: nothing that one leaves behind is seen by another.
  const item = `item-${CASES.indexOf(which)}-${began.toString(36)}`;
  const { arguments: args, version } = await subject.prepare(running, item);
  const point = CUT_POINTS.find((each) => which.startsWith(each));
  if (point !== undefined) proxy?.cut(point);
  const first = await here.done(
    { item, ...args },
    { tool: TOOL_NAME, key: item, ...(version === undefined ? {} : { version }) },
  );
  if (which.endsWith("another writes the same")) await subject.rival?.(running, item, args);
  const last = await driven(here, clock.ahead, first);
  const of: Watched = { item, arguments: args, operationId: last.id, digest: last.digest };
  await expect
    .poll(() => subject.effects(running, of), { timeout: 5_000 })
    .toBe(claimed.effects)
    .catch(() => undefined);
  if (point !== undefined && proxy?.cuts() !== 1)
    throw new Error(
      `the wire was cut ${proxy?.cuts() ?? 0} times instead of once: ${JSON.stringify(last.attempts)}`,
    );
  expect(here.alarms, "invariant alarms").toEqual([]);
  const lookups = (await here.run("select count(*)::int as n from events where type = 'looked_up'"))[0]?.n;
  const row: Row = {
    server: subject.server.name,
    subject: subject.name,
    case: which,
    claimed,
    seen: {
      state: last.state,
      ...(last.reason === undefined ? {} : { reason: last.reason }),
      effects: await subject.effects(running, of),
      person: last.attention !== undefined,
      lookups: Number(lookups),
      attempts: last.attempts.length,
    },
    ms: Date.now() - began,
  };
  return { row, of };
}

async function proxyTo<Running extends Stoppable>(
  subject: Subject<Running>,
  running: Running,
): Promise<CuttingProxy> {
  const proxy = await cuttingProxy(subject.address(running), subject.speech);
  onTestFinished(() => proxy.close());
  return proxy;
}

const STEPS_MAX = 80;

/** What a worker does, with the database's clock put forward to whatever is due next: until it has settled, or stands before a person. */
async function driven(
  here: Rig,
  ahead: (ms: number) => Promise<void>,
  operation: Operation,
): Promise<Operation> {
  let current = operation;
  for (let steps = 0; steps < STEPS_MAX; steps++) {
    current = await here.again(current);
    if (current.settledAt !== undefined || current.attention !== undefined) return current;
    const [row] = await here.run(
      "select coalesce(ceil(extract(epoch from due_at - writ_now()) * 1000), 0)::int as ms from operations",
    );
    const waitMs = Number(row?.ms ?? 0);
    if (waitMs > 0) await ahead(waitMs + 1);
    await here.step(current);
  }
  return here.again(current);
}

const PROVIDER = "subject";
const TOOL_NAME = "subject.change";

function toolOf<Running extends Stoppable>({ tool }: Subject<Running>): Tool {
  return {
    name: TOOL_NAME,
    title: "Change something at a real server",
    provider: PROVIDER,
    input: { type: "object" },
    resource: { type: "Item", id: "{item}", parents: [] },
    permissionForMs: 3_600_000,
    reviewForMs: 60_000,
    autonomy: "allowed",
    lookalikes: "off",
    intentKey: "optional",
    reversible: true,
    ...tool,
  };
}
