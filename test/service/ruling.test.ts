import { describe, expect, test } from "vitest";
import { tenantId } from "../../src/core/ids.ts";
import type { Operation } from "../../src/core/operation.ts";
import type { Session } from "../../src/core/session.ts";
import { receipt } from "../../src/service/inspect.ts";
import { type Ruling, resolve } from "../../src/service/resolve.ts";
import { linked, under } from "../support/delegated.ts";
import { KINDS, SETTLE_MS, type Shop, shop } from "../support/shop.ts";
import { refusal } from "../support/stock.ts";

const resolver = (here: Shop) =>
  here.as({ principalId: "test#eve", clientId: "console", roles: ["resolver"] });
const EVIDENCE = { reference: "ticket 17", note: "I looked at the provider's own screen." };
const CAN_SETTLE = { ...KINDS.nothing.contract, settle: { kind: "bounded", forMs: SETTLE_MS } } as const;

/** An operation whose answer was lost at a provider that offers nothing to ask. */
async function doubtful(
  where: "drop_before" | "drop_after",
  options: Parameters<typeof shop>[0] = {},
): Promise<{
  here: Shop;
  lost: Operation;
  rule: (finding: Ruling["finding"], more?: Partial<Ruling>) => Promise<Operation>;
}> {
  const here = await shop({ of: "nothing", contract: CAN_SETTLE, ...options });
  here.provider.fault(where);
  const lost = await here.place("o1");
  const rule = (finding: Ruling["finding"], more: Partial<Ruling> = {}) =>
    resolve(here.ports, resolver(here), lost.id, {
      finding,
      digest: lost.digest,
      evidence: EVIDENCE,
      ...more,
    });
  return { here, lost, rule };
}

describe("a person's ruling", () => {
  test("C110: 'it happened' settles the operation, and the receipt says whose word that is", async () => {
    const { here, lost, rule } = await doubtful("drop_after");

    const settled = await rule("confirmed");

    expect(settled).toMatchObject({
      state: "succeeded",
      evidence: { kind: "ruling", data: { by: "test#eve", reference: "ticket 17" } },
    });
    expect(settled.attention).toBeUndefined();
    const jws = await receipt(here.ports, here.session, lost.id);
    const claims = JSON.parse(Buffer.from(jws.split(".")[1] ?? "", "base64url").toString());
    expect(claims).toMatchObject({ state: "succeeded", evidence: { kind: "ruling" } });
    const events = await here.ledger.events(lost.tenantId, lost.id);
    expect(JSON.parse(events.at(-1)?.body ?? "{}")).toMatchObject({
      type: "ruled",
      actor: { principal: "test#eve", client: "console" },
    });
  });

  test("'it did not' is refused while a sent request may still act, with the moment from which it can be ruled", async () => {
    const { here, lost, rule } = await doubtful("drop_before");

    const early = await refusal(rule("absent"));
    await here.clock.ahead(SETTLE_MS - 2_000);
    const stillEarly = await refusal(rule("absent"));
    await here.clock.ahead(2_500);
    const settled = await rule("absent");

    expect([early.code, stillEarly.code]).toEqual(["finding_refused", "finding_refused"]);
    expect(settled).toMatchObject({ state: "rejected", reason: "not_applied" });
    expect(here.provider.requests()).toHaveLength(1);
    expect((await here.again(lost)).state).toBe("rejected");
  });

  test("'it did not' where the contract knows no end of it is refused for ever", async () => {
    const { here, rule } = await doubtful("drop_before", {
      contract: { ...KINDS.nothing.contract, settle: { kind: "unbounded" } },
    });
    await here.clock.ahead(365 * 86_400_000);

    expect((await refusal(rule("absent"))).code).toBe("finding_refused");
    expect(await rule("confirmed")).toMatchObject({ state: "succeeded" });
  });

  test("'it did not', where the identity is usable, permits the repeat: one effect", async () => {
    const { here, lost, rule } = await doubtful("drop_before", {
      of: "key",
      contract: KINDS.key.contract,
    });
    await here.clock.ahead(SETTLE_MS + 1_000);

    const permitted = await rule("absent");
    const settled = await here.drive(permitted);

    expect(permitted).toMatchObject({ id: lost.id, state: "authorized" });
    expect(settled).toMatchObject({ state: "succeeded", attempts: [{ n: 1 }, { n: 2 }] });
    expect(here.orders()).toBe(1);
  });

  test("C045: by somebody through whom the authority ran, or without the role, or of another tenant, is refused and changes nothing", async () => {
    const here = await shop({ of: "nothing", contract: CAN_SETTLE });
    here.provider.fault("drop_after");
    const above = await linked(here, "agent-0");
    const session = under(here, await linked(here, "agent-1", above));
    const lost = await here.place("o1", { session });
    const rows: readonly [string, Partial<Session>, string][] = [
      ["the principal", { principalId: "test#ada" }, "forbidden"],
      ["a delegator", { clientId: "agent-0" }, "forbidden"],
      ["the holder of a link", { principalId: "agent-1" }, "forbidden"],
      ["somebody through the client that proposed", { clientId: "agent-1" }, "forbidden"],
      ["somebody without the role", { roles: ["operator", "auditor"] }, "forbidden"],
      ["somebody of another tenant", { tenantId: tenantId("globex") }, "not_found"],
    ];

    for (const [who, changes, expected] of rows) {
      const session = { ...resolver(here), ...changes };
      const ruling = { finding: "confirmed", digest: lost.digest, evidence: EVIDENCE } as const;

      const answer = await refusal(resolve(here.ports, session, lost.id, ruling));

      expect({ who, code: answer.code }).toEqual({ who, code: expected });
    }
    expect(await here.again(lost)).toEqual(lost);
  });

  test("names the digest as it was displayed: any other is refused", async () => {
    const { here, lost, rule } = await doubtful("drop_after");

    const answer = await refusal(rule("confirmed", { digest: `sha-256:${"A".repeat(43)}` }));

    expect(answer).toMatchObject({ code: "finding_refused", at: "/digest" });
    expect(await here.again(lost)).toEqual(lost);
  });

  test("C027: of two at once one is recorded; the other is told that it moved, and the receipt never changes", async () => {
    const { here, lost, rule } = await doubtful("drop_after");
    await here.clock.ahead(SETTLE_MS + 1_000);

    const answers = await Promise.allSettled([rule("confirmed"), rule("absent"), rule("confirmed")]);
    const jws = await here.ledger.receipt(lost.tenantId, lost.id);
    const again = await refusal(rule("absent"));

    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(again.code).toBe("finding_refused");
    expect(await here.ledger.receipt(lost.tenantId, lost.id)).toBe(jws);
    const events = await here.ledger.events(lost.tenantId, lost.id);
    expect(events.filter((event) => JSON.parse(event.body).type === "ruled")).toHaveLength(1);
  });

  test.each(["succeeded", "rejected", "authorized", "executing"])(
    "on an operation that is %s is refused: only doubt is ruled on",
    async (state) => {
      const here = await shop();
      if (state === "executing") here.provider.fault("slow", { ms: 400 });
      const begun = await here.ask(
        { order: "o1", item: "main/bolt", quantity: state === "rejected" ? 5_000 : 1 },
        { tool: "orders.place", ...(state === "authorized" ? { execute: "later" } : {}) },
      );
      const operation = state === "executing" ? begun.operation : ((await begun.done) ?? begun.operation);

      const answer = await refusal(
        resolve(here.ports, resolver(here), operation.id, {
          finding: "confirmed",
          digest: operation.digest,
          evidence: EVIDENCE,
        }),
      );
      await begun.done;

      expect(operation.state).toBe(state);
      expect(answer.code).toBe("finding_refused");
    },
  );
});
