import { describe, expect, test } from "vitest";
import type { Delegation } from "../../src/core/delegation.ts";
import { proposal } from "../../src/core/proposal.ts";
import { type Query, statement } from "../../src/database/sql.ts";
import { claimBatch } from "../../src/ledger/claim.ts";
import { openBatch } from "../../src/ledger/open.ts";
import { claimAndExecute } from "../../src/service/claim.ts";
import type { Claiming, Opening } from "../../src/service/ledger-port.ts";
import { movableClock } from "../support/clock.ts";
import { chained, linked, under } from "../support/delegated.ts";
import { broken, flown } from "../support/flown.ts";
import { claimingOf, instance, openingOf } from "../support/instance.ts";
import { type Rig, rig, STOCK_TOOL } from "../support/rig.ts";
import { change, rowsOf, stocked } from "../support/stock.ts";

/** Until somebody waits for a lock of this database. */
async function somebodyWaits(here: Rig): Promise<void> {
  const waiting =
    "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await expect
    .poll(async () => (await here.run(waiting)).length, { timeout: 5_000, interval: 10 })
    .toBeGreaterThanOrEqual(1);
}

const ENDING = { by: "test#ops", reason: "over" };
const verdictOf = (answers: readonly { readonly rows: readonly unknown[] }[]) =>
  ((answers.at(-1)?.rows ?? []) as { verdict: string }[])[0]?.verdict;

/** An operation under a chain of three that is permitted, the claim of it that is about to be sent, and an opening under the same chain. */
async function permitted(
  here: Rig,
): Promise<{ links: readonly Delegation[]; claiming: Claiming; opening: Opening }> {
  await stocked(here, "a");
  const links = await chained(here);
  const session = under(here, links[2]);
  const waiting = await here.done(change("a"), { version: 42, execute: "later", session });
  const read = await here.ledger.read(waiting.tenantId, waiting.id);
  const claiming = await claimingOf(here.ports, (ports) => claimAndExecute(ports, waiting, read?.clock ?? 0));
  const asked = { tool: STOCK_TOOL.name, arguments: change("a", 7), expectedVersion: 42 };
  return { links, claiming, opening: await openingOf(here.ports, session, proposal(asked, undefined)) };
}

/** A revocation as it must not be: it leaves the epoch alone. */
const REVOKED_ONLY =
  "update delegations set revoked_at = writ_clock(), revoked_by = 'x', revoked_reason = 'y' where id = $1";

describe("a revocation of a link that was acknowledged first", () => {
  test.each([0, 1, 2])(
    "wins over a claim and a proposal that were decided before it, at depth %i",
    async (depth) => {
      const here = await rig();
      const { links, claiming, opening } = await permitted(here);

      await here.ledger.delegations.end(here.session.tenantId, links[depth]?.id ?? "", ENDING);

      expect(await here.ledger.claim(claiming)).toMatchObject({ kind: "stale_authority" });
      expect(await here.ledger.open(opening)).toMatchObject({ kind: "stale_authority" });
      expect(await here.stock("a")).toMatchObject({ writes: 0 });
      expect(await rowsOf(here, "operations")).toBe(1);
    },
  );

  test("wins over a claim that was sent first and waits for its lock", async () => {
    const here = await rig();
    const { links, claiming } = await permitted(here);
    const other = await instance(here, "w2");

    let claim: ReturnType<typeof here.ledger.claim> | undefined;
    await here.database.transaction(async (tx) => {
      for (const query of await ending(here, links[0]?.id ?? "")) await tx.query(query);
      claim = other.ledger.claim(claiming);
      await somebodyWaits(here);
    });

    expect(await claim).toMatchObject({ kind: "stale_authority" });
    expect(await here.stock("a")).toMatchObject({ writes: 0 });
  });

  test.each([
    ["as it is", true],
    ["broken: when the record is changed without the epoch", false],
  ])("ends what was decided before it (%s)", async (_name, sound) => {
    const here = await rig();
    const { links, claiming } = await permitted(here);
    const id = links[0]?.id ?? "";
    if (sound) await here.ledger.delegations.end(here.session.tenantId, id, ENDING);
    else await here.run(REVOKED_ONLY, [id]);
    const answer = await here.ledger.claim(claiming);

    expect(answer.kind).toBe(sound ? "stale_authority" : "claimed");
  });

  test.each([
    ["as it is", true],
    ["broken: without the share lock", false],
  ])("is not acknowledged while a claim under the old epoch may still commit (%s)", async (_name, sound) => {
    const here = await rig();
    const { links, claiming } = await permitted(here);
    const other = await instance(here, "w2");
    const { local: _elsewhere, ...rest } = claiming;
    const whole = await flown((database) => claimBatch(database, [rest]));
    const queries = sound
      ? whole
      : broken(broken(whole, "(select count(*) from turn) > 0 and ", ""), "for share", "");
    const order: string[] = [];

    let ended: Promise<unknown> | undefined;
    await here.database.transaction(async (tx) => {
      expect(verdictOf(await tx.all(queries))).toBe("claimed");
      ended = other.ledger.delegations
        .end(here.session.tenantId, links[1]?.id ?? "", ENDING)
        .then(() => order.push("revoked"));
      if (sound) await somebodyWaits(here);
      else await ended;
      order.push("claimed");
    });
    await ended;

    expect(order).toEqual(sound ? ["claimed", "revoked"] : ["revoked", "claimed"]);
  });
});

/** The statements of a revocation, to be sent one by one. */
function ending(here: Rig, id: string): Promise<readonly Query[]> {
  return flown(async (database) => {
    const { postgresDelegations } = await import("../../src/ledger/delegations.ts");
    return postgresDelegations(database).end(here.session.tenantId, id, ENDING);
  });
}

describe("the end of a link", () => {
  test.each([
    ["as it is", undefined, "stale_authority"],
    ["broken: when it is not asked again", "writ_at(i.ends_ms) <= clock.at", "open"],
  ] as const)(
    "that passed while the proposal waited for a lock stores nothing (%s)",
    async (_name, rule, verdict) => {
      const here = await rig();
      const link = await linked(here, "agent-1", undefined, { lasts: { forMs: 30_000 } });
      const asked = { tool: STOCK_TOOL.name, arguments: change("a", 7), expectedVersion: 42 };
      const opening = await openingOf(here.ports, under(here, link), proposal(asked, undefined));
      const { local: _elsewhere, ...rest } = opening;
      const whole = await flown((database) => openBatch(database, [rest]));
      const queries = rule === undefined ? whole : broken(whole, rule, "false");
      const clock = await movableClock(here);
      const other = await instance(here, "w2");

      let opened: Promise<readonly { readonly rows: readonly unknown[] }[]> | undefined;
      await here.database.transaction(async (tx) => {
        await tx.query(statement("select 1 from authority where tenant_id = 'acme' for update", []));
        opened = other.database.flight(queries);
        await somebodyWaits(here);
        await clock.ahead(31_000);
      });

      expect(verdictOf((await opened) ?? [])).toBe(verdict);
    },
  );

  test("that passed while the claim waited for a lock is met by the claim", async () => {
    const here = await rig();
    await stocked(here, "a");
    const link = await linked(here, "agent-1", undefined, { lasts: { forMs: 30_000 } });
    const session = under(here, link);
    const waiting = await here.done(change("a"), { version: 42, execute: "later", session });
    const read = await here.ledger.read(waiting.tenantId, waiting.id);
    const claiming = await claimingOf(here.ports, (ports) =>
      claimAndExecute(ports, waiting, read?.clock ?? 0),
    );
    const clock = await movableClock(here);
    const other = await instance(here, "w2");

    let claim: ReturnType<typeof here.ledger.claim> | undefined;
    await here.database.transaction(async (tx) => {
      await tx.query(statement("select 1 from authority where tenant_id = 'acme' for update", []));
      claim = other.ledger.claim(claiming);
      await somebodyWaits(here);
      await clock.ahead(31_000);
    });

    expect(await claim).toMatchObject({ kind: "expired" });
    expect(await here.stock("a")).toMatchObject({ writes: 0 });
  });

  test("that passes before the claim ends the permission: nothing is executed, though nobody looked at the link again", async () => {
    const here = await rig();
    await stocked(here, "a");
    const clock = await movableClock(here);
    const link = await linked(here, "agent-1", undefined, { lasts: { forMs: 30_000 } });
    const waiting = await here.done(change("a"), {
      version: 42,
      execute: "later",
      session: under(here, link),
    });
    await clock.ahead(31_000);

    const settled = await here.step(waiting);

    expect(settled).toMatchObject({ state: "rejected", reason: "expired" });
    expect(await here.stock("a")).toMatchObject({ writes: 0 });
  });

  test("is cut to the end of the one above, and a link is never given under one that has ended or was revoked", async () => {
    const here = await rig();
    const clock = await movableClock(here);
    const root = await linked(here, "agent-1", undefined, { lasts: { forMs: 30_000 } });
    const below = await linked(here, "agent-2", root, { lasts: { forMs: 90_000 } });

    await here.ledger.delegations.end(here.session.tenantId, below.id, ENDING);
    const underRevoked = linked(here, "agent-3", below);
    await expect(underRevoked).rejects.toThrow("not granted");
    await clock.ahead(31_000);
    const underEnded = linked(here, "agent-2", root);

    expect(below.expiresAt).toBe(root.expiresAt);
    await expect(underEnded).rejects.toThrow("not granted");
  });
});

test("granting leaves the epoch alone: what was decided before it may still be claimed", async () => {
  const here = await rig();
  const { claiming, links } = await permitted(here);

  await linked(here, "agent-9", links[0]);

  expect(await here.ledger.claim(claiming)).toMatchObject({ kind: "claimed" });
});
