import { type Static, Type } from "typebox";
import { maybe, strict, text, time, words } from "./member.ts";

/** RFC 9728. */
export const ResourceAnswer = Type.Object(
  {
    resource: Type.String({ description: "What tokens are asked for: the `resource` of RFC 8707." }),
    resource_name: Type.String(),
    authorization_servers: Type.Array(Type.String(), { description: "Whose tokens are taken." }),
    scopes_supported: maybe(Type.Array(Type.String())),
    bearer_methods_supported: Type.Array(Type.String()),
    dpop_signing_alg_values_supported: Type.Array(Type.String()),
    dpop_bound_access_tokens_required: maybe(Type.Boolean()),
  },
  strict,
);
export type ResourceAnswer = Static<typeof ResourceAnswer>;

export const LoginQuery = Type.Object(
  {
    next: maybe(text("The page of ours to go to afterwards.", 1_000)),
    issuer: maybe(text("At which issuer, where several offer it.", 500)),
    again: maybe(
      Type.Boolean({ description: "Prove anew who you are, also where the issuer remembers you." }),
    ),
    max_age: maybe(
      Type.Integer({
        minimum: 0,
        maximum: 86_400,
        description: "Prove anew unless that was at most so many seconds ago.",
      }),
    ),
    acr_values: maybe(text("In one of these ways.", 200)),
  },
  strict,
);
export type LoginQuery = Static<typeof LoginQuery>;

/** What an issuer sends a browser back with. Other parameters than these are its own business, and ignored. */
export const CallbackQuery = Type.Object({
  code: maybe(Type.String({ maxLength: 4_096 })),
  state: maybe(Type.String({ maxLength: 512 })),
  iss: maybe(Type.String({ maxLength: 512 })),
  error: maybe(Type.String({ maxLength: 200 })),
});

export const MeAnswer = Type.Object(
  {
    tenant: Type.String(),
    principal: Type.String({ description: "Issuer and subject." }),
    client: Type.String(),
    roles: Type.Array(Type.String()),
    via: words(["token", "console"], "A token, or a browser session of your own."),
    itself: maybe(Type.Literal(true, { description: "A service that acts for itself." })),
    delegation: maybe(Type.String({ description: "The delegation that the token names." })),
    authenticatedAt: maybe(time("When the person proved who they are.")),
    acr: maybe(Type.String({ description: "In which way." })),
  },
  strict,
);
export type MeAnswer = Static<typeof MeAnswer>;
