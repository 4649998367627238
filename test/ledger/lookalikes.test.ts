import { describe, expect, test } from "vitest";
import type { Operation } from "../../src/core/operation.ts";
import type { Problem } from "../../src/core/problem.ts";
import { proposal } from "../../src/core/proposal.ts";
import type { Session } from "../../src/core/session.ts";
import { lockAuthority, lockIntents } from "../../src/ledger/guard.ts";
import { type Admission, openQuery } from "../../src/ledger/open-sql.ts";
import { openingItem } from "../../src/ledger/opening.ts";
import { cancel } from "../../src/service/cancel.ts";
import { visible } from "../../src/service/inspect.ts";
import { propose } from "../../src/service/propose.ts";
import { instance, openingOf } from "../support/instance.ts";
import { type Rig, rig, STOCK_TOOL } from "../support/rig.ts";
import { shop } from "../support/shop.ts";
import { change, refusal, rowsOf, stocked } from "../support/stock.ts";

const counted = (words: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
};

describe("many at once", () => {
  test("C065, C066: 50 proposals with one key through three instances are one operation with one effect, and nobody hears of an outage", async () => {
    const here = await rig();
    await stocked(here, "a");
    const others = await Promise.all(["w2", "w3"].map((name) => instance(here, name)));
    const all = [here.ports, ...others.map((other) => other.ports)];
    const claims = { tool: STOCK_TOOL.name, arguments: change("a"), expectedVersion: 42 };

    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        propose(all[n % 3] as typeof here.ports, here.session, proposal(claims, "one")),
      ),
    );

    expect(new Set(answers.map((answer) => answer.operation.id)).size).toBe(1);
    expect(counted(answers.map((answer) => answer.how))).toEqual({ opened: 1, replayed: 49 });
    expect(await here.stock("a")).toMatchObject({ writes: 1 });
    expect(await rowsOf(here, "operations")).toBe(1);
    expect(await rowsOf(here, "receipts")).toBe(1);
  });

  test("C001: 64 look-alikes without a key are one effect elsewhere; the others join it", async () => {
    const here = await shop();
    const others = await Promise.all(["w2", "w3"].map((name) => instance(here, name)));
    const all = [here.ports, ...others.map((other) => other.ports)];
    here.provider.fault("slow", { ms: 1_800 });
    const claims = { tool: "orders.place", arguments: { order: "o1", item: "main/bolt", quantity: 1 } };

    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, n) =>
        propose(all[n % 3] as typeof here.ports, here.session, proposal(claims, undefined)),
      ),
    );
    await Promise.all(answers.map((answer) => answer.done));

    expect(counted(answers.map((answer) => answer.how))).toEqual({ opened: 1, joined: 63 });
    expect(new Set(answers.map((answer) => answer.operation.id)).size).toBe(1);
    expect(here.orders()).toBe(1);
  });

  test("64 look-alikes without a key are one effect in our own database; the others are told which one it was", async () => {
    const here = await rig();
    await stocked(here, "a");

    const answers = await Promise.all(
      Array.from({ length: 64 }, () =>
        here.done(change("a"), { version: 42 }).then(
          (operation) => operation.state,
          (problem: { code: string }) => problem.code,
        ),
      ),
    );

    expect(counted(answers)).toEqual({ succeeded: 1, looks_the_same: 63 });
    expect(await here.stock("a")).toMatchObject({ writes: 1 });
  });

  test.each([
    ["as it is", true],
    ["broken: without the guard's row", false],
  ])("checking and inserting is one step (%s)", async (_name, guarded) => {
    const here = await rig();
    await stocked(here, "a");
    const other = await instance(here, "w2");
    const asked = proposal(
      { tool: STOCK_TOOL.name, arguments: change("a"), expectedVersion: 42, execute: "later" },
      undefined,
    );
    const [mine, theirs] = [
      await openingOf(here.ports, here.session, asked),
      await openingOf(other.ports, here.session, asked),
    ];
    const queries = (opening: typeof mine) => {
      const items = JSON.stringify([openingItem(opening, 0)]);
      return [
        lockAuthority([opening.operation.tenantId]),
        ...(guarded ? lockIntents([opening]) : []),
        openQuery(items),
      ];
    };

    // Both have looked before either has committed, if the lock lets them.
    let second: Promise<Admission[]> | undefined;
    const first = await here.database.transaction(async (tx) => {
      const admissions = (await tx.all(queries(mine))).at(-1)?.rows as Admission[];
      second = other.database.flight(queries(theirs)).then((answers) => answers.at(-1)?.rows as Admission[]);
      if (!guarded) await second;
      return admissions;
    });

    const verdicts = [first[0]?.verdict, (await second)?.[0]?.verdict];
    expect(verdicts).toEqual(guarded ? ["open", "joined"] : ["open", "open"]);
    expect(await rowsOf(here, "operations")).toBe(guarded ? 1 : 2);
  });
});

describe("who looks like whom", () => {
  const tools = (["principal", "tenant", "off"] as const).map((lookalikes) => ({
    ...STOCK_TOOL,
    name: `stock.${lookalikes}`,
    lookalikes,
  }));

  const sessionOf = (here: Rig, who: string): Session =>
    who === "my colleague"
      ? here.as({ principalId: "test#bob" })
      : who === "another tenant"
        ? here.as({ tenantId: "globex" as never })
        : here.session;
  const told = (work: Promise<{ how: string; operation: Operation }>) =>
    work.then(
      ({ how, operation }) => ({ told: operation.reason ?? how, id: operation.id as string | undefined }),
      (problem: Problem) => ({ told: problem.code as string, id: problem.details.operationId }),
    );

  test("is the tool's to say, as long as the first has not settled; nobody is told of what belongs to somebody else", async () => {
    const here = await rig({ tools });
    const rows = [
      ["stock.principal", "me", "joined"],
      ["stock.principal", "my colleague", "opened"],
      ["stock.tenant", "me", "joined"],
      ["stock.tenant", "my colleague", "equal_effect_in_doubt"],
      ["stock.off", "me", "opened"],
      ["stock.off", "my colleague", "opened"],
      ["stock.tenant", "another tenant", "opened"],
    ];

    for (const [n, [tool = "", who = "", expected]] of rows.entries()) {
      const asked = { version: 1, tool, execute: "later" as const };
      const first = await here.done(change(`i${n}`), asked);
      const second = await told(here.ask(change(`i${n}`), { ...asked, session: sessionOf(here, who) }));

      expect({ tool, who, told: second.told }).toEqual({ tool, who, told: expected });
      expect(second.id === first.id).toBe(expected === "joined");
    }
  });

  test("is the tool's to say, when the first succeeded a moment ago", async () => {
    const here = await rig({ tools });
    const rows = [
      ["stock.principal", "me", "looks_the_same"],
      ["stock.principal", "my colleague", "precondition_failed"],
      ["stock.tenant", "my colleague", "looks_the_same"],
      ["stock.off", "me", "precondition_failed"],
    ];

    for (const [n, [tool = "", who = "", expected]] of rows.entries()) {
      await stocked(here, `i${n}`, 1);
      const first = await here.done(change(`i${n}`), { version: 1, tool });
      const again = { version: 1, tool, session: sessionOf(here, who) };
      const second = await told(here.ask(change(`i${n}`), again));

      expect({ tool, who, told: second.told }).toEqual({ tool, who, told: expected });
      expect(second.id === first.id).toBe(expected === "looks_the_same" && who === "me");
      expect(await here.stock(`i${n}`)).toMatchObject({ writes: 1 });
    }
  });

  test("an operation of another tenant, of another principal, and none at all read exactly alike", async () => {
    const here = await rig();
    const theirs = await here.done(change("a"), {
      version: 1,
      execute: "later",
      session: here.as({ tenantId: "globex" as never }),
    });
    const bobs = await here.done(change("b"), {
      version: 1,
      execute: "later",
      session: here.as({ principalId: "test#bob" }),
    });
    const nobodys = `op_${"0".repeat(32)}` as typeof bobs.id;

    const verbs = [
      (id: typeof bobs.id) => visible(here.ports, here.session, id),
      (id: typeof bobs.id) => cancel(here.ports, here.session, id),
    ];
    for (const verb of verbs) {
      const answers = await Promise.all(
        [theirs.id, bobs.id, nobodys].map((id) =>
          verb(id).then(
            () => "found",
            (error: { code: string; message: string; details: object }) =>
              JSON.stringify([error.code, error.message, error.details]),
          ),
        ),
      );
      expect(new Set(answers)).toEqual(new Set(['["not_found","no such operation",{}]']));
    }
    expect((await refusal(here.done(change("c"), { version: 1, supersedes: theirs.id }))).code).toBe(
      "not_cancellable",
    );
  });
});
