import { describe, expect, test } from "vitest";
import { brokenLink } from "../../src/core/event.ts";
import type { Operation } from "../../src/core/operation.ts";
import { proposal } from "../../src/core/proposal.ts";
import { executeLater } from "../../src/service/cancel.ts";
import { propose } from "../../src/service/propose.ts";
import { instance } from "../support/instance.ts";
import { type Rig, rig, STOCK_TOOL } from "../support/rig.ts";
import { change, refusal, rowsOf, stocked } from "../support/stock.ts";

const later = (here: Rig, item = "a", key = "old") =>
  here.done(change(item), { version: 42, execute: "later", key });
const typesOf = async (here: Rig, { tenantId, id }: Operation) =>
  (await here.ledger.events(tenantId, id)).map((event) => JSON.parse(event.body).type);

describe("a proposal that supersedes another", () => {
  test("C003: ends the old one and opens the new one, which is then executed", async () => {
    const here = await rig();
    await stocked(here, "a");
    const old = await later(here);

    const edited = await here.done(change("a", 15), { version: 42, supersedes: old.id, key: "new" });

    expect(edited).toMatchObject({ state: "succeeded", supersedes: old.id });
    expect(await here.again(old)).toMatchObject({ state: "rejected", reason: "superseded" });
    expect(await here.stock("a")).toEqual({ available: 15, version: 43, writes: 1 });
    expect(await typesOf(here, old)).toEqual(["proposed", "authorized", "denied"]);
    expect(await here.ledger.receipt(old.tenantId, old.id)).toMatch(/^ey/);
    const events = await here.ledger.events(old.tenantId, old.id);
    expect(JSON.parse(events.at(-1)?.body ?? "{}").data).toMatchObject({
      reason: "superseded",
      by: edited.id,
    });
    expect(brokenLink(events)).toBeUndefined();
  });

  test("C021: an operation that was superseded is never executed, however often somebody asks", async () => {
    const here = await rig();
    await stocked(here, "a");
    const old = await later(here);
    await here.done(change("a", 15), { version: 42, supersedes: old.id, execute: "later" });

    const asked = await executeLater(here.ports, here.session, old.id);
    const stepped = await here.step(old);

    expect([asked.operation.state, stepped.state]).toEqual(["rejected", "rejected"]);
    expect(await here.stock("a")).toMatchObject({ writes: 0 });
  });

  test("may say the very same again: the old one is not its look-alike", async () => {
    const here = await rig();
    const old = await later(here, "a", "k1");

    const same = await here.ask(change("a"), { version: 43, execute: "later", supersedes: old.id });

    expect(same).toMatchObject({ how: "opened", operation: { state: "authorized" } });
  });

  test("is not stored, and neither is its key, when the old one cannot be cancelled any more", async () => {
    const here = await rig();
    await stocked(here, "a");
    const done = await here.done(change("a"), { version: 42 });
    const before = [await rowsOf(here, "operations"), await rowsOf(here, "events")];

    const answer = await refusal(
      here.done(change("a", 15), { version: 43, supersedes: done.id, key: "new" }),
    );

    expect(answer).toMatchObject({ code: "not_cancellable", at: "/supersedes" });
    expect([await rowsOf(here, "operations"), await rowsOf(here, "events")]).toEqual(before);
    expect(await rowsOf(here, "intent_keys")).toBe(0);
    expect((await here.done(change("a", 16), { version: 43, key: "new" })).state).toBe("succeeded");
  });

  test("cannot name nobody's, a colleague's or another tenant's: the three read alike, and none is touched", async () => {
    const here = await rig();
    const owners = [here.as({ principalId: "test#bob" }), here.as({ tenantId: "globex" as never })];
    const theirs = await Promise.all(
      owners.map((session) => here.done(change("a"), { version: 42, execute: "later", session })),
    );

    for (const id of [...theirs.map((operation) => operation.id), `op_${"1".repeat(32)}`]) {
      const answer = await here
        .done(change("a", 15), { version: 42, supersedes: id, key: "new" })
        .catch((error: { code: string; message: string }) => error);

      expect(answer).toMatchObject({
        code: "not_cancellable",
        message: "the operation to supersede cannot be cancelled: there is no such operation of yours",
      });
    }
    for (const operation of theirs)
      expect(await here.again(operation)).toMatchObject({ state: "authorized" });
    expect(await rowsOf(here, "intent_keys")).toBe(0);
  });

  test("sent again with its key, is replayed: the old one is not asked twice", async () => {
    const here = await rig();
    await stocked(here, "a");
    const old = await later(here);
    const first = await here.done(change("a", 15), { version: 42, supersedes: old.id, key: "new" });

    const again = await here.ask(change("a", 15), { version: 42, supersedes: old.id, key: "new" });

    expect(again).toMatchObject({ how: "replayed", operation: { id: first.id, state: "succeeded" } });
    expect(await here.stock("a")).toMatchObject({ writes: 1 });
  });

  test("C027: of twenty that supersede one operation through two instances, one wins and the others store nothing", async () => {
    const here = await rig();
    const other = await instance(here, "w2");
    const old = await later(here);

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        propose(
          n % 2 === 0 ? here.ports : other.ports,
          here.session,
          proposal(
            {
              tool: STOCK_TOOL.name,
              arguments: change("a", n),
              expectedVersion: 42,
              supersedes: old.id,
              execute: "later",
            },
            `k${n}`,
          ),
        ).then(
          (proposed) => proposed.how,
          (problem: { code: string }) => problem.code,
        ),
      ),
    );

    expect(answers.filter((answer) => answer === "opened")).toHaveLength(1);
    expect(answers.filter((answer) => answer === "not_cancellable")).toHaveLength(19);
    expect(await rowsOf(here, "operations")).toBe(2);
    expect(await rowsOf(here, "intent_keys")).toBe(2);
  });
});

describe("a compensation", () => {
  const undo = { ...STOCK_TOOL, name: "inventory.undo" };

  test("C117: names a succeeded operation and is decided and executed like any other", async () => {
    const here = await rig({ tools: [STOCK_TOOL, undo] });
    await stocked(here, "a");
    const first = await here.done(change("a"), { version: 42 });

    const back = await here.done(change("a", 10), { version: 43, tool: undo.name, compensates: first.id });

    expect(back).toMatchObject({ state: "succeeded", compensates: first.id });
    expect(await here.again(first)).toEqual(first);
    expect(await here.stock("a")).toEqual({ available: 10, version: 44, writes: 2 });
  });

  test("C117: of an operation that is unsettled, rejected, foreign or nobody's is refused, and nothing is stored", async () => {
    const here = await rig({ tools: [STOCK_TOOL, undo] });
    await stocked(here, "a");
    await stocked(here, "a", 42, "globex");
    const session = here.as({ tenantId: "globex" as never });
    const targets = {
      unsettled: (await later(here)).id,
      rejected: (await here.done(change("a", 7), { version: 1 })).id,
      foreign: (await here.done(change("a"), { version: 42, session })).id,
      nobodys: `op_${"1".repeat(32)}`,
    };
    const before = await rowsOf(here, "operations");

    for (const [which, compensates] of Object.entries(targets)) {
      const asked = { version: 42, tool: undo.name, compensates, key: "undo" };
      const { code, at } = await refusal(here.done(change("a", 10), asked));

      expect({ which, code, at }).toEqual({ which, code: "not_settled", at: "/compensates" });
    }
    expect(await rowsOf(here, "operations")).toBe(before);
    expect(await here.run("select 1 from intent_keys where intent_key = 'undo'")).toEqual([]);
  });

  test("is the only live one: of ten at once one is stored, and a rejected one makes room", async () => {
    const here = await rig({ tools: [STOCK_TOOL, undo] });
    await stocked(here, "a");
    const other = await instance(here, "w2");
    const first = await here.done(change("a"), { version: 42 });
    const compensate = (ports: Rig["ports"], key: string, execute: "now" | "later") =>
      propose(
        ports,
        here.session,
        proposal(
          { tool: undo.name, arguments: change("a", 10), expectedVersion: 1, compensates: first.id, execute },
          key,
        ),
      ).then(
        ({ operation }) => operation.state as string,
        (problem: { code: string }) => problem.code,
      );
    expect(await compensate(here.ports, "stale", "now")).toBe("rejected");

    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        compensate(n % 2 === 0 ? here.ports : other.ports, `u${n}`, "later"),
      ),
    );

    expect(answers.filter((answer) => answer === "authorized")).toHaveLength(1);
    expect(answers.filter((answer) => answer === "not_settled")).toHaveLength(9);
    expect(await rowsOf(here, "operations")).toBe(3);
    expect(await rowsOf(here, "intent_keys")).toBe(2);
  });
});
