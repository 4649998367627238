import type { TenantId } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import type { Ports } from "./ports.ts";

/** Whether a process can serve, and what it looked at to say so. */
export interface Readiness {
  ready: boolean;
  checks: { name: string; ok: boolean; says?: string }[];
}

export interface ReadinessParts {
  readonly ports: Pick<Ports, "authority">;
  readonly tenants: readonly TenantId[];
  /** Migrations that the database lacks; rejects when it does not answer. */
  readonly pending: () => Promise<readonly string[]>;
  /** One line for each issuer that is not as it should be. */
  readonly issuers: () => readonly { readonly issuer: string; readonly trouble?: string }[];
}

/** An issuer that is away stops its own tokens and nothing else: it is said, and does not count. */
export async function readiness({ ports, tenants, pending, issuers }: ReadinessParts): Promise<Readiness> {
  try {
    const missing = await pending();
    const migrated = check("migrations", missing.length === 0 ? undefined : `missing: ${missing.join(", ")}`);
    const current = migrated.ok && (await inForce(ports, tenants));
    const configuration = check(
      "configuration",
      current ? undefined : "another one is in force than this process was started with",
    );
    const tokens = issuers().map(({ issuer, trouble }) => check(`issuer ${issuer}`, trouble));
    return { ready: current, checks: [check("database", undefined), migrated, configuration, ...tokens] };
  } catch {
    return { ready: false, checks: [check("database", "the ledger's database does not answer")] };
  }
}

function check(name: string, trouble: string | undefined): Readiness["checks"][number] {
  return trouble === undefined ? { name, ok: true } : { name, ok: false, says: trouble };
}

/** Is what this process was started with still what its tenants are offered? A later `writ apply` may have changed it. */
async function inForce(
  { authority }: Pick<Ports, "authority">,
  [tenant]: readonly TenantId[],
): Promise<boolean> {
  try {
    if (tenant !== undefined) await authority.refresh(tenant);
    return authority.outdated().length === 0;
  } catch (error) {
    if (error instanceof Problem && error.code === "not_ready") return false;
    throw error;
  }
}
