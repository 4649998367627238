import { describe, expect, test } from "vitest";
import { proposal } from "../../src/core/proposal.ts";
import { type Query, statement } from "../../src/database/sql.ts";
import { claimBatch } from "../../src/ledger/claim.ts";
import { claimAndExecute } from "../../src/service/claim.ts";
import type { Claiming } from "../../src/service/ledger-port.ts";
import { propose } from "../../src/service/propose.ts";
import { movableClock } from "../support/clock.ts";
import { broken, flown } from "../support/flown.ts";
import { claimingOf, instance, openingOf } from "../support/instance.ts";
import { type Rig, rig, STOCK_TOOL } from "../support/rig.ts";
import { change, refusal, rowsOf, stocked } from "../support/stock.ts";

/** An operation that is permitted, and the claim of it that is about to be sent. */
async function permitted(here: Rig): Promise<Claiming> {
  await stocked(here, "a");
  const waiting = await here.done(change("a"), { version: 42, execute: "later", key: "k" });
  const read = await here.ledger.read(waiting.tenantId, waiting.id);
  return claimingOf(here.ports, (ports) => claimAndExecute(ports, waiting, read?.clock ?? 0));
}

const claimQueries = ({ local: _elsewhere, ...claiming }: Claiming): Promise<readonly Query[]> =>
  flown((database) => claimBatch(database, [claiming]));

/** Until so many sessions of this database wait for a lock. */
async function somebodyWaits(here: Rig, many = 1): Promise<void> {
  const waiting =
    "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  const count = async () => (await here.run(waiting)).length;
  await expect.poll(count, { timeout: 5_000, interval: 10 }).toBeGreaterThanOrEqual(many);
}

const verdictOf = (answers: readonly { readonly rows: readonly unknown[] }[]) =>
  ((answers.at(-1)?.rows ?? []) as { verdict: string }[])[0]?.verdict;

describe("a revocation that was acknowledged first", () => {
  test("C026: wins over a claim that was decided before it, and over a proposal that was", async () => {
    const here = await rig();
    const claiming = await permitted(here);
    const asked = proposal(
      { tool: STOCK_TOOL.name, arguments: change("a", 7), expectedVersion: 42, compensates: undefined },
      undefined,
    );
    const opening = await openingOf(here.ports, here.session, asked);

    const epoch = await here.ledger.raiseEpoch(here.session.tenantId, "revoked", "ops");

    expect(await here.ledger.claim(claiming)).toEqual({ kind: "stale_authority", epoch });
    expect(await here.ledger.open(opening)).toEqual({ kind: "stale_authority", epoch });
    expect(await here.stock("a")).toMatchObject({ writes: 0 });
    expect(await rowsOf(here, "operations")).toBe(1);
  });

  test("wins over a claim that was sent first and waits for its lock", async () => {
    const here = await rig();
    const claiming = await permitted(here);
    const other = await instance(here, "w2");

    let claim: ReturnType<typeof here.ledger.claim> | undefined;
    await here.database.transaction(async (tx) => {
      await tx.query(statement("update authority set epoch = epoch + 1 where tenant_id = 'acme'", []));
      claim = other.ledger.claim(claiming);
      await somebodyWaits(here);
    });

    expect(await claim).toMatchObject({ kind: "stale_authority" });
    expect(await here.stock("a")).toMatchObject({ writes: 0 });
  });

  const LOCK = "for share";
  const TURN = "(select count(*) from turn) > 0 and ";
  test.each([
    ["as it is", [], true],
    ["without its place in the line, which is fairness only", [TURN], true],
    ["broken: without the share lock as well", [TURN, LOCK], false],
  ] as const)(
    "is not acknowledged while a claim under the old epoch may still commit (%s)",
    async (_name, without, sound) => {
      const here = await rig();
      const claiming = await permitted(here);
      const other = await instance(here, "w2");
      const whole = await claimQueries(claiming);
      const queries = without.reduce<readonly Query[]>((rest, rule) => broken(rest, rule, ""), whole);
      const order: string[] = [];

      let revoked: Promise<unknown> | undefined;
      await here.database.transaction(async (tx) => {
        const verdict = verdictOf(await tx.all(queries));
        expect(verdict).toBe("claimed");
        revoked = other.ledger.raiseEpoch(here.session.tenantId, "revoked", "ops").then(() => {
          order.push("revoked");
        });
        if (sound) await somebodyWaits(here);
        else await revoked;
        order.push("claimed");
      });
      await revoked;

      // "revoked" before "claimed": somebody was told that nothing can be claimed any more, and then it was.
      expect(order).toEqual(sound ? ["claimed", "revoked"] : ["revoked", "claimed"]);
    },
  );

  test.each([
    ["as it is", true],
    ["broken: without a line, later claims go before it, and it may starve", false],
  ] as const)("is next in line: a claim that comes after it waits behind it (%s)", async (_name, fair) => {
    const here = await rig();
    const early = await permitted(here);
    const others = await Promise.all(["w2", "w3"].map((name) => instance(here, name)));
    const whole = await claimQueries(early);
    const queries = fair ? whole : broken(whole, TURN, "");
    // The same claim twice is fine here: what is asked is only who is let in.
    const locks = queries.slice(0, 1);
    const before = (await here.ledger.authority(here.session.tenantId)).epoch;
    const epoch = statement("select epoch from authority where tenant_id = $1", [here.session.tenantId]);

    const late = await here.database.transaction(async (tx) => {
      await tx.all(locks);
      const revoked = others[0]?.ledger.raiseEpoch(here.session.tenantId, "revoked", "ops");
      await somebodyWaits(here);
      const answers = others[1]?.database.flight([...locks, epoch]);
      if (fair) await somebodyWaits(here, 2);
      else await answers;
      return { revoked, answers };
    });
    const [seen] = ((await late.answers)?.at(-1)?.rows ?? []) as readonly { epoch: number }[];
    await late.revoked;

    // Who waited behind the revocation finds its epoch; who was let in before it finds the old one.
    expect(seen?.epoch).toBe(fair ? before + 1 : before);
  });

  test("broken: a claim that does not compare the epoch goes through after it", async () => {
    const here = await rig();
    const claiming = await permitted(here);
    const queries = broken(await claimQueries(claiming), "a.epoch is distinct from i.epoch", "false");
    await here.ledger.raiseEpoch(here.session.tenantId, "revoked", "ops");

    const answers = await here.database.flight(queries);

    expect(verdictOf(answers)).toBe("claimed");
  });

  test("without its authority row a tenant has no claim at all", async () => {
    const here = await rig();
    const claiming = await permitted(here);
    await here.run("alter table definitions drop constraint definitions_tenant_id_fkey");
    await here.run("alter table authority_events drop constraint authority_events_tenant_id_fkey");
    await here.run("delete from authority where tenant_id = 'acme'");

    expect(await here.ledger.claim(claiming)).toMatchObject({ kind: "stale_authority" });
  });
});

describe("a claim that waited past the end of its permission", () => {
  const EXPIRY = "i.expires_now <= clock.at";
  test.each([
    ["for its operation, as it is", "operations", undefined, "expired"],
    ["for its authority, as it is", "authority", undefined, "expired"],
    [
      "for its operation, broken: with the time of its start",
      "operations",
      "i.expires_now <= statement_timestamp()",
      "claimed",
    ],
  ] as const)("%s", async (_name, table, instead, verdict) => {
    const here = await rig();
    const claiming = await permitted(here);
    const clock = await movableClock(here);
    const other = await instance(here, "w2");
    const sound = await claimQueries(claiming);
    const queries = instead === undefined ? sound : broken(sound, EXPIRY, instead);

    let claim: Promise<readonly { readonly rows: readonly unknown[] }[]> | undefined;
    await here.database.transaction(async (tx) => {
      await tx.query(statement(`select 1 from ${table} where tenant_id = 'acme' for update`, []));
      claim = other.database.flight(queries);
      await somebodyWaits(here);
      await clock.ahead(STOCK_TOOL.permissionForMs);
    });

    expect(verdictOf((await claim) ?? [])).toBe(verdict);
  });
});

test("a halt is acknowledged while sixty-four callers of three instances go on claiming: at most a few batches come before it", async () => {
  const here = await rig();
  for (let item = 0; item < 64; item++) await stocked(here, `i${item}`, 0);
  const others = await Promise.all(["w2", "w3", "ops"].map((name) => instance(here, name)));
  const all = [here.ports, ...others.map((other) => other.ports)];
  const caller = async (item: number): Promise<string> => {
    for (let version = 0; ; version++) {
      const args = change(`i${item}`, version % 7);
      const claims = { tool: STOCK_TOOL.name, arguments: args, expectedVersion: version };
      const asked = proposal(claims, `k${item}-${version}`);
      const { code } = await refusal(propose(all[item % 3] as Rig["ports"], here.session, asked));
      // Each goes on until it hears of the halt.
      if (!code.startsWith("no refusal")) return code;
    }
  };
  const callers = Array.from({ length: 64 }, (_, item) => caller(item));
  await expect.poll(() => rowsOf(here, "receipts"), { timeout: 15_000 }).toBeGreaterThan(300);

  const before = await rowsOf(here, "receipts");
  await others[2]?.ledger.halt(here.session.tenantId, {
    id: "h1",
    scope: "tenant",
    reason: "test",
    actor: "ops",
  });
  const after = await rowsOf(here, "receipts");
  const ends = await Promise.all(callers);

  expect(new Set(ends)).toEqual(new Set(["halted"]));
  expect(after - before).toBeLessThan(1_000);
  // What was acknowledged is true at once: whatever was counted after it, stays.
  expect(await rowsOf(here, "receipts")).toBe(after);
});
