import { type CommonSettings, type ConnectorKind, defineConnector } from "../../src/connectors/define.ts";
import type { Exchange, Sending } from "../../src/connectors/exchange.ts";
import { fingerprint } from "../../src/connectors/fingerprint.ts";
import { renderValue } from "../../src/connectors/variable.ts";
import type { Json } from "../../src/core/json.ts";
import { checkHoles } from "../../src/core/message.ts";
import { membersOf, required, textOf } from "../../src/core/written.ts";

export interface TelegraphSettings extends CommonSettings {
  readonly office: string;
  readonly password: string;
}

/** What an office does with one telegram. */
export type Office = (telegram: Json, sending: Sending) => Promise<Exchange>;

/** A connector as somebody else would write one: a telegram is whole, and binding, with its STOP. */
export function telegraph(
  office: Office,
  open: () => Promise<void> = async () => undefined,
): ConnectorKind<TelegraphSettings> {
  return defineConnector<TelegraphSettings, Json>({
    kind: "telegraph",
    transport: {
      phases: { before_stop: "nothing", after_stop: "unknown" },
      headers: false,
      base: false,
      local: false,
      message: {
        parse: (written) => {
          const { to, text } = membersOf(written, ["to", "text"]);
          const words = required(written, text, "text", "write what is telegraphed");
          checkHoles(words);
          return { to: textOf(required(written, to, "to", "say whom")), text: textOf(words) };
        },
        parts: ({ to, text }) => [
          { at: "/to", value: to, secrets: false },
          { at: "/text", value: text, secrets: true },
        ],
      },
    },
    settings: {
      parse: (written, { secret }) => {
        const { office: name, password } = membersOf(written, ["kind", "office", "password"]);
        return {
          office: textOf(required(written, name, "office", "name the office")),
          password: secret(required(written, password, "password", "write env:NAME or file:PATH")),
        };
      },
      pinned: ({ office: name, password }) => ({ office: name, credential: fingerprint(password) }),
      secrets: ({ password }) => [password],
    },
    write: (message, subject) => renderValue(message, subject) ?? null,
    open: async () => {
      await open();
      return { send: office, close: async () => undefined };
    },
  });
}
