import type { OperationId } from "../core/ids.ts";
import type { Finding } from "../core/inquiry.ts";
import { type Operation, settled } from "../core/operation.ts";
import { Problem } from "../core/problem.ts";
import { judgeAbsence } from "../core/recovery.ts";
import { identityUsable, lastSentAt } from "../core/sending.ts";
import { peopleInChain, type Session } from "../core/session.ts";
import { requireUnrevoked } from "./backing.ts";
import { pinnedNow } from "./decide.ts";
import { requireRole, visible } from "./inspect.ts";
import type { Ports } from "./ports.ts";
import { recordingOf } from "./settle.ts";
import { sessionOf } from "./standing.ts";

/** What a person rules, with the evidence that they looked at. */
export interface Ruling {
  readonly finding: "confirmed" | "absent";
  /** The digest as displayed to the person: what is ruled on is exactly this change. */
  readonly digest: string;
  readonly evidence: { readonly reference: string; readonly note: string };
}

/** Records a person's ruling as a Finding. The same fold as for a lookup decides what it means. */
export async function resolve(
  ports: Ports,
  session: Session,
  id: OperationId,
  ruling: Ruling,
): Promise<Operation> {
  requireRole(session, "resolver");
  await requireUnrevoked(ports, session);
  const { value: operation, clock } = await visible(ports, session, id);
  const chain = peopleInChain(sessionOf(operation));
  // Nor through the client that proposed: an agent that also holds a resolver's token must not clear its own doubt.
  if (chain.has(session.principalId) || chain.has(session.clientId)) {
    throw new Problem(
      "forbidden",
      "a ruling comes from somebody through whom the operation's authority did not run",
    );
  }
  if (ruling.digest !== operation.digest)
    throw new Problem("finding_refused", "the digest is not the one of this operation", { at: "/digest" });
  if (settled(operation))
    throw new Problem("finding_refused", `the operation is ${operation.state}; its receipt never changes`, {
      operationId: id,
    });
  if (operation.state !== "unknown")
    throw new Problem(
      "finding_refused",
      `only an operation in doubt is ruled on; this one is ${operation.state}`,
      { operationId: id },
    );
  const offered = await pinnedNow(ports, operation);
  if (offered === undefined)
    throw new Problem("finding_refused", "the operation's contract is not known here", { operationId: id });
  const finding = findingOf(session, ruling, clock);
  const settles = judgeAbsence(operation, finding, offered.tool.contract);
  if (finding.kind === "absent" && settles === "no") throw tooEarly(operation, offered.tool.contract.settle);
  const repeatable = identityUsable(
    { attempts: [], inquiry: operation.inquiry },
    offered.tool.contract,
    clock,
  );
  const told = {
    happening: { type: "found", finding, settles, repeatable } as const,
    actor: { principal: session.principalId, client: session.clientId },
  };
  const answer = await ports.ledger.record(
    recordingOf(ports, operation, [told], { contract: offered.tool.contract, clock }),
  );
  if (answer.kind === "recorded") return answer.operation;
  throw new Problem("finding_refused", "the operation moved while you decided; look at it again", {
    operationId: id,
  });
}

function findingOf(session: Session, ruling: Ruling, clock: number): Finding {
  const evidence = {
    kind: "ruling" as const,
    data: { by: session.principalId, reference: ruling.evidence.reference, note: ruling.evidence.note },
  };
  const by = { ruling: session.principalId };
  if (ruling.finding === "confirmed") return { kind: "confirmed", by, startedAt: clock, evidence };
  return { kind: "absent", by, startedAt: clock, authoritative: true, evidence };
}

function tooEarly(
  operation: Operation,
  settle: { kind: "bounded"; forMs: number } | { kind: "unbounded" },
): Problem {
  if (settle.kind === "unbounded") {
    return new Problem(
      "finding_refused",
      "the contract does not say how long a sent request may still act, so nobody can know that it never will",
      {
        operationId: operation.id,
        next: "Give the contract a bounded settle time, or rule `confirmed` when the effect is found.",
      },
    );
  }
  const from = (lastSentAt(operation) ?? 0) + settle.forMs;
  return new Problem(
    "finding_refused",
    `a sent request may still act until ${new Date(from).toISOString()}; absence can be ruled after that`,
    {
      operationId: operation.id,
      retryAfterMs: settle.forMs,
    },
  );
}
