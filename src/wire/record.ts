import { type Static, type TSchema, Type } from "typebox";
import { STATES } from "../wire.ts";
import { anyObject, maybe, strict, time, words } from "./member.ts";

const part = <Data extends TSchema>(what: string, data: Data) =>
  Type.Object({ lines: Type.Array(Type.String(), { description: what }), data }, strict);

/** The four answers, and while it is unsettled what happens next and when. */
export const ExplanationAnswer = Type.Object(
  {
    operationId: Type.String(),
    state: words([...STATES], "What is known."),
    summary: Type.String(),
    authorizedBy: part("Who authorized it, and under which policy.", anyObject("The same for programs.")),
    against: part("What exactly, and against which version.", anyObject("The same for programs.")),
    attempts: part(
      "How many times it was attempted, and what each attempt learned.",
      anyObject("The same for programs."),
    ),
    evidence: part("What confirms the effect, or its absence.", anyObject("The same for programs.")),
    next: maybe(part("What happens next, and when.", anyObject("The same for programs."))),
  },
  strict,
);
export type ExplanationAnswer = Static<typeof ExplanationAnswer>;

export const EventAnswer = Type.Object(
  {
    n: Type.Integer(),
    type: Type.String(),
    at: time("On the database's clock."),
    actor: anyObject("Who made it happen."),
    data: anyObject("What happened."),
    prev: Type.Unsafe<string | null>({
      type: ["string", "null"],
      description: "The hash of the event before it.",
    }),
    hash: Type.String({ description: "Over exactly the stored bytes." }),
  },
  strict,
);
export type EventAnswer = Static<typeof EventAnswer>;

export const HistoryAnswer = Type.Object(
  {
    operationId: Type.String(),
    events: Type.Array(EventAnswer),
    chainBroken: maybe(
      Type.String({ description: "The first break of the chain; absent when it is whole." }),
    ),
  },
  strict,
);
export type HistoryAnswer = Static<typeof HistoryAnswer>;

export const ReceiptAnswer = Type.Object(
  { jws: Type.String(), claims: anyObject("What the receipt states.") },
  strict,
);
export type ReceiptAnswer = Static<typeof ReceiptAnswer>;
