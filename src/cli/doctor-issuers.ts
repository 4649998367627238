import { examineIssuers } from "../compose.ts";
import type { Configuration } from "../config.ts";
import { type Check, fail, ok, warn } from "./check.ts";

/** More than this and tokens come from the future, or have ended before they begin. */
const CLOCK_MAX_MS = 5_000;

/** Whether the issuers whose tokens are taken can be asked, and keep the same time. */
export async function issuerChecks(configuration: Configuration): Promise<readonly Check[]> {
  if (configuration.issuers.length === 0)
    return [
      warn(
        "issuer",
        "the configuration names no issuer: to `writ serve` nobody could come",
        "Name one under `issuers`; `writ dev` has one of its own.",
      ),
    ];
  const found = await examineIssuers(configuration);
  return found.map(({ issuer, keys = 0, why, clockAheadMs = 0, login }) => {
    if (why !== undefined)
      return fail(
        "issuer",
        `${issuer} cannot be used: ${why}`,
        "Its tokens are refused once the last known keys are an hour old; look at its address, `ca` and `allowPrivate`.",
      );
    if (Math.abs(clockAheadMs) > CLOCK_MAX_MS)
      return fail(
        "issuer",
        `the clock of ${issuer} is ${Math.round(Math.abs(clockAheadMs) / 1000)} s ${clockAheadMs > 0 ? "ahead of" : "behind"} this machine's`,
        "Let both keep time by NTP.",
      );
    if (login !== undefined)
      return fail(
        "issuer",
        `nobody can sign in at ${issuer}: ${login}`,
        "Leave `login` out, or mend the issuer.",
      );
    return ok("issuer", `${issuer}: ${keys} ${keys === 1 ? "key" : "keys"}`);
  });
}
