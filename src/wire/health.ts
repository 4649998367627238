import { type Static, Type } from "typebox";
import { maybe, strict } from "./member.ts";

export const HealthAnswer = Type.Object({ status: Type.Literal("ok") }, strict);
export const ReadyAnswer = Type.Object(
  {
    ready: Type.Boolean(),
    checks: Type.Array(
      Type.Object({ name: Type.String(), ok: Type.Boolean(), says: maybe(Type.String()) }, strict),
    ),
  },
  strict,
);
export type ReadyAnswer = Static<typeof ReadyAnswer>;
