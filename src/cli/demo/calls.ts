import type { Client } from "../../client.ts";
import type { OperationAnswer, ProposeBody } from "../../wire.ts";
import type { Feed } from "./feed.ts";
import { answerSays, refusalSays } from "./wording.ts";

/** A proposal as the agent makes it. */
export interface Wish {
  readonly body: ProposeBody;
  readonly intentKey: string;
  /** The agent's line. */
  readonly says: string;
  readonly waitSeconds?: number;
}

/** The agent asks, and both lines are told: what it asked, and what really came back. Undefined when it was refused, or when nobody answered. */
export async function asks(feed: Feed, agent: Client, wish: Wish): Promise<OperationAnswer | undefined> {
  const { body, intentKey, says, waitSeconds } = wish;
  feed.say({ from: "agent", to: "Writ", says });
  try {
    const operation = await agent.propose(body, {
      intentKey,
      ...(waitSeconds === undefined ? {} : { waitSeconds }),
    });
    feed.follow(operation.operationId);
    feed.say(answerSays(operation));
    return operation;
  } catch (error) {
    const operationId = refusedId(error);
    if (operationId !== undefined) feed.follow(operationId);
    feed.say(refusalSays(error));
    return undefined;
  }
}

function refusedId(error: unknown): string | undefined {
  return error instanceof Error && "problem" in error
    ? (error.problem as { readonly operationId?: string }).operationId // The client's Refused carries Writ's problem.
    : undefined;
}

const SETTLED_WITHIN_MS = 15_000;

/** The agent does what it was told: it asks for this operation, and for nothing else. */
export async function asksAgain(feed: Feed, agent: Client, id: string): Promise<OperationAnswer> {
  const operation = await agent.wait(id, SETTLED_WITHIN_MS);
  await feed.caughtUp();
  feed.say(answerSays(operation));
  return operation;
}

/** The agent's words for one change of stock. */
export function setAvailable(
  tool: string,
  item: string,
  available: number,
  expectedVersion: string,
): { readonly body: ProposeBody; readonly says: string } {
  const warehouse = "wh_1";
  return {
    body: { tool, arguments: { warehouse, item, available }, expectedVersion },
    says: `${tool} ${warehouse}/${item} to ${available}, at version ${expectedVersion}`,
  };
}
