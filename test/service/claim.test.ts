import { describe, expect, test } from "vitest";
import type { Tool } from "../../src/core/tool.ts";
import { postgresLedger } from "../../src/ledger/ledger.ts";
import { executeLater } from "../../src/service/cancel.ts";
import { claimAndExecute } from "../../src/service/claim.ts";
import type { Ledger } from "../../src/service/ledger-port.ts";
import { breaking } from "../support/flown.ts";
import { instance } from "../support/instance.ts";
import { redeployed } from "../support/redeployed.ts";
import { type Rig, rig, STOCK_TOOL } from "../support/rig.ts";
import { shop } from "../support/shop.ts";
import { change, stocked } from "../support/stock.ts";

/** Nobody goes on before all have come. */
function meeting(count: number): () => Promise<void> {
  let missing = count;
  let open: () => void = () => undefined;
  const all = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    missing -= 1;
    if (missing === 0) open();
    return all;
  };
}

describe("many who execute one operation at once", () => {
  test("C004, C070: are one claim and one request, whoever of eight instances is asked", async () => {
    const here = await shop({ of: "nothing" });
    const others = await Promise.all(Array.from({ length: 7 }, (_, n) => instance(here, `w${n}`)));
    const operation = await here.place("o1", { execute: "later" });

    const executed = await Promise.all(
      [here.ports, ...others.map((other) => other.ports)].map((ports) =>
        executeLater(ports, here.session, operation.id),
      ),
    );
    await Promise.all(executed.map((one) => one.done));

    expect(executed.filter((one) => one.done !== undefined)).toHaveLength(1);
    expect(await here.again(operation)).toMatchObject({ state: "succeeded", attempts: [{ n: 1 }] });
    expect(here.provider.requests()).toHaveLength(1);
    expect(here.orders()).toBe(1);
  });

  test.each([
    ["as it is", true],
    ["broken: with claims that do not compare the revision", false],
  ])("send once when both had decided before either claimed (%s)", async (_name, sound) => {
    const here = await shop({ of: "nothing" });
    const operation = await here.place("o1", { execute: "later" });
    const read = await here.ledger.read(operation.tenantId, operation.id);
    const others = await Promise.all(["w1", "w2"].map((name) => instance(here, name)));
    const workers = others.map(({ ports, database }) => {
      if (sound) return ports;
      const unread = breaking(database, "where i.revision_now = i.revision", "where true");
      return { ...ports, ledger: postgresLedger(breaking(unread, "and o.revision = r.revision", "")) };
    });
    const both = meeting(workers.length);
    here.provider.fault("slow", { ms: 800, times: 2 });

    const executed = await Promise.all(
      workers.map(async (ports) => {
        const claim: Ledger["claim"] = async (claiming) => {
          await both();
          return ports.ledger.claim(claiming);
        };
        return claimAndExecute({ ...ports, ledger: { ...ports.ledger, claim } }, operation, read?.clock ?? 0);
      }),
    );
    await Promise.allSettled(executed.map((one) => one.done));

    expect(here.provider.requests()).toHaveLength(sound ? 1 : 2);
    expect(here.orders()).toBe(sound ? 1 : 2);
  });

  test("C067: a claim that the database refuses, however, is followed by no request", async () => {
    const here = await shop({ of: "nothing" });
    await here.run(
      "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no' using errcode = tg_argv[0]; end $$",
    );
    for (const [n, error] of ["23505", "40001", "57014", "53300"].entries()) {
      const operation = await here.place(`o${n}`, { execute: "later" });
      await here.run(
        `create trigger refused before update on operations for each row when (new.state = 'executing') execute function refuse('${error}')`,
      );

      const executing = executeLater(here.ports, here.session, operation.id);

      await expect(executing).rejects.toThrow();
      await here.run("drop trigger refused on operations");
      expect(await here.again(operation)).toMatchObject({ state: "authorized", attempts: [] });
    }
    expect(here.provider.requests()).toHaveLength(0);
  });
});

describe("what changed between the decision and the claim", () => {
  async function waiting(): Promise<{ here: Rig; id: Parameters<typeof executeLater>[2] }> {
    const here = await rig();
    await stocked(here, "a");
    const { id } = await here.done(change("a"), { version: 42, execute: "later" });
    return { here, id };
  }
  test("C014: the stored bytes: what does not hash to the digest that was authorized is never executed", async () => {
    const { here, id } = await waiting();
    await here.run(`update operations set action = replace(action, '"available":18', '"available":99')`);

    const executed = await executeLater(here.ports, here.session, id);

    expect(executed.operation).toMatchObject({ state: "rejected", reason: "invalid" });
    expect(await here.stock("a")).toMatchObject({ writes: 0 });
    expect(here.alarms).toHaveLength(1);
  });

  test.each<[string, Partial<Tool>, string]>([
    ["C143: the tool", { title: "Something else" }, "sha-256:stock"],
    ["the provider's settings", {}, "sha-256:another credential"],
  ])(
    "%s: it is superseded, and a new proposal is decided under the new one",
    async (_name, tool, settings) => {
      const { here, id } = await waiting();
      const ports = await redeployed(here, {
        tools: [{ ...STOCK_TOOL, ...tool }],
        settings: { stock: settings },
      });

      const executed = await executeLater(ports, here.session, id);

      expect(executed.operation).toMatchObject({ state: "rejected", reason: "superseded" });
      expect(await here.stock("a")).toMatchObject({ writes: 0 });
    },
  );

  test("nothing that matters: the same tools offered again end no permission", async () => {
    const { here, id } = await waiting();
    const epoch = await here.ledger.authority(here.session.tenantId);
    const ports = await redeployed(here, { tools: [STOCK_TOOL] });

    const executed = await executeLater(ports, here.session, id);

    expect(executed.operation.state).toBe("succeeded");
    expect(await here.ledger.authority(here.session.tenantId)).toEqual(epoch);
  });

  test("C025: the time: an expired permission executes nothing, though no sweeper has looked at it", async () => {
    const here = await shop();
    const operation = await here.place("o1", { execute: "later" });
    await here.clock.ahead(61_000);

    const executed = await executeLater(here.ports, here.session, operation.id);

    expect(executed.operation).toMatchObject({ state: "rejected", reason: "expired" });
    expect(here.provider.requests()).toHaveLength(0);
  });
});
