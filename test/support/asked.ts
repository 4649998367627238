import { asks, changingPolicy } from "./people.ts";
import { type ShopOptions, shop } from "./shop.ts";

/** A shop whose every order is asked about. */
export async function asked(requirements = [asks()], options: ShopOptions = {}) {
  const policy = changingPolicy({ effect: "review", requirements });
  const here = await shop({ ...options, overrides: { policy, ...options.overrides } });
  const change = async (voice: typeof policy.voice) => {
    policy.voice = voice;
    await here.ledger.raiseEpoch(here.session.tenantId, "a change", "ops");
  };
  return { here, policy, change };
}
