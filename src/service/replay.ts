import type { Instant } from "../core/ids.ts";
import { combine, type Decision } from "../core/policy.ts";
import { type Session, serviceName } from "../core/session.ts";
import type { Tool } from "../core/tool.ts";
import { requireRole } from "./inspect.ts";
import { keptPolicy, policiesOf } from "./policy.ts";
import { digestOfVersion, type PastQuestion, type PolicyText, type RecordedDecision } from "./policy-port.ts";
import type { Ports } from "./ports.ts";

/** A decision that policy would give otherwise. */
interface Flip {
  readonly operationId: string;
  readonly at: Instant;
  readonly tool: string;
  readonly resource: string;
  readonly principalId: string;
  readonly was: Said;
  readonly would: Said;
}

/** What policy says, without delegations, autonomy and halts, which no policy changes. */
interface Said {
  readonly effect: Decision["effect"];
  readonly policies: readonly string[];
  readonly requirements: readonly string[];
  readonly why?: string;
}

export interface Replay {
  readonly digest: string;
  readonly replayed: number;
  /** The same answer, by the same requirements. */
  readonly same: number;
  readonly flips: readonly Flip[];
  /** What cannot be decided again: its tool or the policy of then is not kept, or nobody looked up what the candidate asks for. */
  readonly unclear: number;
}

/** Each decision costs a few evaluations; more would keep everybody else waiting. */
const REPLAY_MAX = 1_000;
const YIELD_EVERY = 20;

/**
 * Decides the last recorded decisions again under a kept policy, each from the facts of then: the arguments, who asked with which roles,
 * and what had been looked up. The policy of then is asked again beside it, so that what differs is the policy and nothing else.
 */
export async function replayPolicy(
  ports: Pick<Ports, "policies" | "catalog" | "clock">,
  session: Session,
  { digest, max }: { readonly digest: string; readonly max: number },
): Promise<Replay> {
  requireRole(session, "policy-admin", "auditor");
  const { store } = policiesOf(ports);
  const candidate = await keptPolicy(ports, session, digest);
  const recorded = await store.recorded(session.tenantId, Math.min(max, REPLAY_MAX));
  const texts = new Map<string, PolicyText | undefined>();
  const flips: Flip[] = [];
  let [same, unclear] = [0, 0];
  for (const [index, decision] of recorded.entries()) {
    // Others are served between.
    if (index % YIELD_EVERY === YIELD_EVERY - 1) await ports.clock.sleep(0);
    const before = digestOfVersion(decision.policyVersion);
    if (!texts.has(before)) texts.set(before, await store.read(session.tenantId, before));
    const past = await pastOf(ports, session, decision);
    const then = texts.get(before);
    if (past === undefined || then === undefined || lacksFacts(ports, past, then, candidate)) {
      unclear += 1;
      continue;
    }
    const flip = flipOf(ports, decision, past, then, candidate);
    if (flip === undefined) same += 1;
    else flips.push(flip);
  }
  return { digest, replayed: recorded.length, same, flips, unclear };
}

async function pastOf(
  { catalog }: Pick<Ports, "catalog">,
  { tenantId }: Session,
  { action, toolDigest, roles, facts }: RecordedDecision,
): Promise<PastQuestion | undefined> {
  const tool: Tool | undefined = (await catalog.pinned(tenantId, toolDigest))?.tool;
  if (tool === undefined) return undefined;
  const { principalId, clientId } = action;
  const delegation = action.delegation as unknown as Session["delegation"]; // Written by chainOf.
  const itself = serviceName(action) === undefined ? {} : { itself: true as const };
  return { session: { tenantId, principalId, clientId, roles, delegation, ...itself }, tool, action, facts };
}

/** Does the candidate ask for what was not looked up then? What was looked for and could not be read is known not to be there. */
function lacksFacts(
  ports: Pick<Ports, "policies">,
  { tool, facts }: PastQuestion,
  then: PolicyText,
  candidate: PolicyText,
): boolean {
  const { bench } = policiesOf(ports);
  const asks = bench.looksUp(candidate, tool);
  if (asks === undefined) return false;
  const asked = bench.looksUp(then, tool);
  const unseen = facts.current === undefined && asked?.current !== true;
  return (asks.recent && facts.recent === undefined) || (asks.current && unseen);
}

function flipOf(
  ports: Pick<Ports, "policies">,
  { operationId, at, action }: RecordedDecision,
  past: PastQuestion,
  then: PolicyText,
  candidate: PolicyText,
): Flip | undefined {
  const { bench } = policiesOf(ports);
  const was = said(combine(bench.judge(then, past), "", 0));
  const would = said(combine(bench.judge(candidate, past), "", 0));
  if (was.effect === would.effect && was.requirements.join("\n") === would.requirements.join("\n"))
    return undefined;
  const { tool, resource, principalId } = action;
  return { operationId, at, tool, resource: `${resource.type}:${resource.id}`, principalId, was, would };
}

function said({ effect, policies, requirements, why }: Decision): Said {
  return {
    effect,
    policies,
    requirements: requirements
      .map(({ policy, role, quorum, by }) => `${policy}: ${quorum} by ${role} (${by})`)
      .sort(),
    ...(why === undefined ? {} : { why }),
  };
}
