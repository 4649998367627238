import type { Configuration } from "./config.ts";
import { type ClosableNotifier, webhookNotifier } from "./connectors/http/webhook.ts";
import type { TenantId } from "./core/ids.ts";
import type { Database } from "./database/pool.ts";
import { processClock } from "./host/clock.ts";
import { processEntropy } from "./host/entropy.ts";
import { webauthn } from "./identity/webauthn.ts";
import { passkeyStore } from "./ledger/passkeys.ts";
import type { Passkeys } from "./service/approval-port.ts";
import type { Log } from "./service/ports.ts";

/** Who hears outside that people are waited for, if anybody. */
export function notifierOf(
  { approvals }: Configuration,
  publicUrl: () => string,
  log: Log,
): ClosableNotifier | undefined {
  if (approvals.notify === undefined) return undefined;
  return webhookNotifier({ ...approvals.notify, publicUrl, log, clock: processClock });
}

/** People's authenticators, where the configuration says under which name. */
export function passkeysOf(
  { approvals }: Configuration,
  database: Database,
  tenantKey: (tenant: TenantId) => Uint8Array,
): Passkeys | undefined {
  if (approvals.passkeys === undefined) return undefined;
  const store = passkeyStore(database);
  return webauthn({
    ...approvals.passkeys,
    store,
    tenantKey,
    salt: processEntropy.salt,
    clock: () => processClock.wallMs(),
  });
}
