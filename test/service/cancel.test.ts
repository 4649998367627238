import { describe, expect, test } from "vitest";
import { cancel, executeLater } from "../../src/service/cancel.ts";
import { instance } from "../support/instance.ts";
import { shop } from "../support/shop.ts";
import { refusal, rowsOf } from "../support/stock.ts";

describe("cancelling", () => {
  test.each(["authorized", "proposed"])(
    "C009: before the claim ends an operation that is %s, once; nothing of it is ever sent",
    async (state) => {
      const here = await shop({ tool: { autonomy: state === "proposed" ? "never" : "allowed" } });
      const operation = await here.place("o1", { execute: "later" });

      const cancelled = await cancel(here.ports, here.session, operation.id);
      const again = await cancel(here.ports, here.session, operation.id);
      const stepped = await here.step(operation);

      expect(operation.state).toBe(state);
      expect(cancelled).toMatchObject({ state: "rejected", reason: "cancelled" });
      expect(again).toEqual(cancelled);
      expect(stepped.state).toBe("rejected");
      expect(here.provider.requests()).toHaveLength(0);
      expect(await rowsOf(here, "receipts")).toBe(1);
    },
  );

  test.each(["executing", "unknown", "succeeded"])(
    "C009: after the claim is refused with the state (%s), and the effect is not called off",
    async (state) => {
      const here = await shop({ of: "key" });
      if (state === "executing") here.provider.fault("slow", { ms: 1_200 });
      if (state === "unknown") here.provider.fault("drop_after");
      const begun = await here.ask({ order: "o1", item: "main/bolt", quantity: 1 }, { tool: "orders.place" });
      const operation = state === "executing" ? begun.operation : ((await begun.done) ?? begun.operation);

      const answer = await cancel(here.ports, here.session, operation.id).catch(
        (error: { code: string; message: string }) => error,
      );
      await begun.done;
      const settled = await here.drive(operation);

      expect(answer).toMatchObject({
        code: "not_cancellable",
        message: expect.stringContaining(`it is ${state}`),
      });
      expect(settled.state).toBe("succeeded");
      expect(here.orders()).toBe(1);
    },
  );

  test("against a claim at the same moment, one of the two wins and the other hears of it", async () => {
    const here = await shop({ of: "nothing" });
    const other = await instance(here, "w2");
    for (let round = 0; round < 12; round++) {
      const operation = await here.place(`o${round}`, { execute: "later", key: `k${round}` });
      const before = here.orders();

      const [cancelling, executing] = await Promise.allSettled([
        cancel(here.ports, here.session, operation.id),
        executeLater(other.ports, here.session, operation.id).then((executed) => executed.done),
      ]);

      const settled = await here.again(operation);
      const cancelled = cancelling.status === "fulfilled";
      expect(executing.status).toBe("fulfilled");
      expect(settled).toMatchObject(
        cancelled ? { state: "rejected", reason: "cancelled", attempts: [] } : { state: "succeeded" },
      );
      expect(here.orders() - before).toBe(cancelled ? 0 : 1);
    }
  });

  test("is for who proposed it and for an operator; whoever may only see it may not", async () => {
    const here = await shop();
    const operation = await here.place("o1", { execute: "later" });
    const other = (...roles: string[]) => here.as({ principalId: "test#bob", roles });

    const codes = [];
    for (const role of ["auditor", "approver", "resolver", "agent"])
      codes.push((await refusal(cancel(here.ports, other(role), operation.id))).code);
    const executing = await refusal(executeLater(here.ports, other("auditor"), operation.id));
    const cancelled = await cancel(here.ports, other("operator"), operation.id);

    expect(codes).toEqual(["forbidden", "forbidden", "forbidden", "not_found"]);
    expect(executing.code).toBe("forbidden");
    expect(cancelled).toMatchObject({ state: "rejected", reason: "cancelled" });
  });
});
