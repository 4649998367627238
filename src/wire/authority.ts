import { type Static, Type } from "typebox";
import { maybe, strict, text, time, words } from "./member.ts";

export const HaltBody = Type.Object(
  {
    scope: words(
      ["tenant", "tool", "provider", "principal", "client", "delegation"],
      "`tenant` halts everything.",
    ),
    name: maybe(text("What is halted, unless it is the tenant.")),
    reason: text("Why; shown to everybody whom it stops.", 500),
  },
  strict,
);
export type HaltBody = Static<typeof HaltBody>;

export const HaltAnswer = Type.Object(
  {
    id: Type.String(),
    scope: Type.String(),
    name: maybe(Type.String()),
    reason: Type.String(),
    actor: Type.String(),
    at: time("Since when."),
  },
  strict,
);
export type HaltAnswer = Static<typeof HaltAnswer>;

export const StandingAnswer = Type.Object(
  {
    epoch: Type.Integer({ description: "Grows with every change of authority." }),
    halts: Type.Array(HaltAnswer),
  },
  strict,
);
export type StandingAnswer = Static<typeof StandingAnswer>;
