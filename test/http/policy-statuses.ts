import { PERMITS, policy } from "../support/cedar.ts";
import { POLICY_ADMIN, type TestDoor } from "../support/door.ts";
import { policed } from "../support/policed.ts";
import type { Rig } from "../support/rig.ts";

/** Asks the routes of policies for every status of their own, and gives them in the order of asking. */
export async function policyStatuses(
  counted: (here: Pick<Rig, "ports">) => Promise<TestDoor>,
): Promise<readonly number[]> {
  const here = await policed(policy(PERMITS));
  const { call } = await counted(here);
  const statuses: number[] = [];
  const post = async (path: string, body: object): Promise<string> => {
    const answer = await call("POST", `/v1/policies${path}`, { as: POLICY_ADMIN, body });
    statuses.push(answer.status);
    return String(answer.body.digest);
  };
  // Kept while its tool was offered, which it is not any more.
  const misfit = policy(`@id("a") permit(principal, action == Writ::Action::"gone", resource);`);
  const gone = here.policies.bench.digest(misfit);
  await here.policies.store.keep(here.session.tenantId, gone, misfit, "earlier");
  const { body: standing } = await call("GET", "/v1/policies", { as: POLICY_ADMIN });
  const order = { expects: standing.version, reason: "r" };

  const kept = await post("", { files: policy(PERMITS, "// more").files });
  await post("", { files: [{ name: "a", text: "permit(" }] });
  await post(`/${kept}/replay`, {});
  await post("/sha-256:none/replay", {});
  await post("/sha-256:none/activate", order);
  await post(`/${gone}/activate`, order);
  await post(`/${kept}/activate`, { ...order, expects: "" });
  await post(`/${kept}/activate`, order);
  return statuses;
}
