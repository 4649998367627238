import { freezeAction } from "../core/action.ts";
import type { Outcome } from "../core/attempt.ts";
import { operationIdOf } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { Problem } from "../core/problem.ts";
import { proposal } from "../core/proposal.ts";
import type { Session } from "../core/session.ts";
import type { Errand, OfferedTool, Ports } from "./ports.ts";

/** What is tried, and on what: the operator named this resource, and nothing else is touched. */
export interface Probing {
  readonly offered: OfferedTool;
  /** The arguments of every write. In its texts `{n}` becomes a number that is new for each content. */
  readonly arguments: JsonObject;
  /** Rounds of parallel writes. */
  readonly rounds: number;
  /** The longest wait for a window to end or a lookup to see. */
  readonly waitMaxMs: number;
  /** Told what is measured now. */
  readonly begins?: (what: string) => void;
}

/** Writes on the scratch resource, through the tool's own contract and connector. */
export interface Bench {
  readonly probing: Probing;
  readonly ports: Pick<Ports, "clock" | "entropy">;
  /** One write with a content of its own, not sent yet. The same errand again is the same operation. */
  errand(more?: { readonly version?: string; readonly like?: Errand; readonly content?: number }): Errand;
  send(errand: Errand, more?: { readonly pauseMs: number }): Promise<Outcome>;
  /** The resource's version now, once the provider shows one that a write can name; or why there is none. */
  version(): Promise<{ readonly version: string } | { readonly why: string }>;
}

const VERSION_WITHIN_MS = 5_000;
const VERSION_EVERY_MS = 100;
const PROBER: Pick<Session, "principalId" | "clientId" | "roles" | "delegation"> = {
  principalId: "writ#probe",
  clientId: "writ-probe",
  roles: [],
  delegation: [],
};

export function benchOf(
  ports: Pick<Ports, "clock" | "entropy" | "catalog">,
  tenantId: Session["tenantId"],
  probing: Probing,
): Bench {
  const { offered } = probing;
  const { contract } = offered.tool;
  let contents = 0;
  const session: Session = { tenantId, ...PROBER };
  const errand: Bench["errand"] = ({ version, like, content } = {}) => {
    contents += 1;
    const args = numbered(probing.arguments, content ?? contents) as JsonObject; // An object stays one.
    offered.validate(args);
    const asked = proposal({ tool: offered.tool.name, arguments: args, expectedVersion: version }, undefined);
    const frozen = freezeAction(offered.tool, asked, session, {
      operationId: like?.action.operationId ?? operationIdOf(ports.entropy.uuid7()),
      salt: ports.entropy.salt(),
      toolDigest: offered.digest,
      settingsDigest: offered.settingsDigest,
      tenantKey: ports.catalog.tenantKey(tenantId),
    });
    const at = ports.clock.wallMs();
    return {
      action: frozen.action,
      digest: frozen.digest,
      contract,
      tool: offered.tool,
      attempt: 1,
      authorizedAt: at,
      firstSentAt: at,
      signal: AbortSignal.timeout(contract.requestLifeMs + contract.maxPauseMs),
      gate: () => true,
    };
  };
  return {
    probing,
    ports,
    errand,
    // A later send of the same errand has a life of its own.
    send: (each, more) => offered.connector.perform({ ...each, ...more, signal: lifeOf(each) }),
    version: () => versionOf(ports, offered, tenantId, errand().action),
  };
}

export function lifeOf({ contract }: Pick<Errand, "contract">): AbortSignal {
  return AbortSignal.timeout(contract.requestLifeMs + contract.maxPauseMs);
}

async function versionOf(
  ports: Pick<Ports, "clock">,
  { connector, tool }: OfferedTool,
  tenantId: Session["tenantId"],
  action: Errand["action"],
): Promise<{ readonly version: string } | { readonly why: string }> {
  if (connector.read === undefined || tool.contract.read === undefined)
    return { why: "the contract does not say how to read the version" };
  const until = ports.clock.monotonicMs() + VERSION_WITHIN_MS;
  for (;;) {
    const read = await connector.read({
      tenantId,
      resourceId: action.resource.id,
      arguments: action.arguments,
      contract: tool.contract,
      signal: lifeOf(tool),
    });
    if (read.kind === "read") return { version: read.version };
    if (read.kind === "absent") return { why: "the scratch resource is not there" };
    // Some show a weak version for a moment after a change.
    if (ports.clock.monotonicMs() >= until) return { why: read.why };
    await ports.clock.sleep(VERSION_EVERY_MS);
  }
}

/** `"{n}"` alone becomes the number itself; inside a longer text it becomes its digits. */
function numbered(value: Json, n: number): Json {
  if (typeof value === "string") return value === "{n}" ? n : value.replaceAll("{n}", String(n));
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item: Json) => numbered(item, n));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, numbered(member as Json, n)]),
  ); // Members of a JSON value.
}

/** Refuses a probe that could only write the same again and again: then no version would ever change. */
export function requireVariety({ arguments: args }: Pick<Probing, "arguments">, marked: boolean): void {
  if (marked || JSON.stringify(args).includes("{n}")) return;
  throw new Problem("invalid", "every write of the probe would have the same content", {
    at: "/arguments",
    next: 'Write {n} into an argument that may differ, such as {"note": "probe {n}"}: it becomes a new number each time.',
  });
}
