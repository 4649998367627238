import { type Static, Type } from "typebox";
import { anyObject, maybe, strict, words } from "./member.ts";

export const ToolAnswer = Type.Object(
  {
    name: Type.String(),
    title: Type.String(),
    description: maybe(Type.String()),
    provider: Type.String(),
    input: anyObject("JSON Schema of the arguments."),
    resource: Type.Object(
      { type: Type.String(), id: Type.String({ description: "Which arguments name the resource." }) },
      strict,
    ),
    expectedVersion: words(
      ["required", "optional", "none"],
      "Whether a proposal names the version that it was decided against.",
    ),
    intentKey: words(["required", "optional"], "Whether a proposal carries an Idempotency-Key."),
    reversible: Type.Boolean(),
    contract: Type.String(),
    promise: Type.Array(Type.String(), { description: "What the contract can and cannot promise." }),
    digest: Type.String({ description: "The tool's name by content." }),
  },
  strict,
);
export type ToolAnswer = Static<typeof ToolAnswer>;
export const ToolsAnswer = Type.Object({ tools: Type.Array(ToolAnswer) }, strict);

export const ProvidersAnswer = Type.Object(
  {
    providers: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          kind: Type.String(),
          settingsDigest: Type.String(),
          tools: Type.Array(Type.String()),
        },
        strict,
      ),
    ),
  },
  strict,
);
export type ProvidersAnswer = Static<typeof ProvidersAnswer>;

export const ContractsAnswer = Type.Object(
  {
    contracts: Type.Array(
      Type.Object(
        {
          contract: Type.String(),
          digest: Type.String({ description: "The contract's name by content." }),
          transport: Type.String(),
          tools: Type.Array(Type.String()),
          promise: Type.Array(Type.String()),
        },
        strict,
      ),
    ),
  },
  strict,
);
export type ContractsAnswer = Static<typeof ContractsAnswer>;
