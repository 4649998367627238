import { describe, expect, test } from "vitest";
import { executeLater } from "../../src/service/cancel.ts";
import { withdraw } from "../../src/service/withdraw.ts";
import { asked } from "../support/asked.ts";
import { person, says } from "../support/people.ts";
import { refusal } from "../support/stock.ts";

describe("taking a yes back", () => {
  test("leaves too few: it waits again, and a second person's yes completes it", async () => {
    const { here } = await asked();
    const waits = await here.place("o1", { execute: "later" });
    const bob = person(here, "bob");
    const permitted = await says(here.ports, bob, waits);

    const reopened = await withdraw(here.ports, bob, waits.id);
    const twice = await withdraw(here.ports, bob, waits.id);
    const again = await says(here.ports, person(here, "carol"), waits);

    expect(permitted.state).toBe("authorized");
    expect(reopened).toMatchObject({ state: "proposed", expiresAt: waits.createdAt + 60_000 });
    expect(twice.revision).toBe(reopened.revision);
    expect(again.authorization?.approvals).toMatchObject([{ person: "test#carol" }]);
    expect(again.review?.approvals).toHaveLength(2);
  });

  test("comes too late once it is claimed, and is nobody else's to do", async () => {
    const { here } = await asked();
    const waits = await here.place("o1");
    const bob = person(here, "bob");
    await says(here.ports, bob, waits);

    const late = await refusal(withdraw(here.ports, bob, waits.id));
    const foreign = await refusal(withdraw(here.ports, person(here, "carol"), waits.id));

    expect([late.code, foreign.code]).toEqual(["decision_refused", "decision_refused"]);
    expect(here.orders()).toBe(1);
  });
});

test("a yes taken back from what others carry as well is asked about again at the claim", async () => {
  const { here } = await asked();
  const waits = await here.place("o1", { execute: "later" });
  const [bob, carol] = [person(here, "bob"), person(here, "carol")];
  await says(here.ports, bob, waits);
  const permitted = await here.again(waits);
  const review = { ...permitted.review, approvals: [...(permitted.review?.approvals ?? [])] };
  const more = { ...review.approvals[0], person: carol.principalId, nonce: "another" };
  const kept = JSON.stringify({ ...review, approvals: [...review.approvals, more] });
  await here.run("update operations set review = $1::jsonb where id = $2", [kept, waits.id.slice(3)]);

  const left = await withdraw(here.ports, bob, waits.id);
  const executed = await executeLater(here.ports, here.session, waits.id);
  const settled = (await executed.done) ?? executed.operation;

  expect(left).toMatchObject({ state: "authorized", authorization: { epoch: 0 } });
  expect(settled).toMatchObject({ state: "succeeded" });
  expect(settled.authorization?.approvals).toMatchObject([{ person: "test#carol" }]);
  expect(here.orders()).toBe(1);
});
