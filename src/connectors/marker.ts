import type { Json, JsonObject } from "../core/json.ts";
import { Problem } from "../core/problem.ts";
import { TRANSPORTS } from "../core/transport.ts";
import type { Errand } from "../service/ports.ts";
import type { ContractConnector } from "./contract-connector.ts";
import { type ConnectorKind, defineConnector } from "./define.ts";
import { EFFECT_MEMBER, type MarkerAsk, markerAskOf } from "./marker/ask.ts";
import { addressOf, type MarkerSettings, secretsOf, settingsDigestValue } from "./marker/settings.ts";
import { transact } from "./marker/transact.ts";
import { statementOf } from "./postgres.ts";

export type { MarkerSettings } from "./marker/settings.ts";

const DEFINED = defineConnector<MarkerSettings, MarkerAsk>({
  kind: "postgres",
  transport: TRANSPORTS.postgres,
  settings: {
    pinned: (settings) => {
      addressOf(settings);
      return settingsDigestValue(settings);
    },
    secrets: secretsOf,
  },
  write: markerAskOf,
  open: (settings) => ({
    send: (ask, sending) => transact(settings, ask, sending),
    // A connection for every transaction: what was idle may be gone.
    close: async () => undefined,
  }),
});

/** PostgreSQL databases that are not the ledger's: the tool's SQL and a row that names the operation are one transaction there. */
export const POSTGRES: ConnectorKind<MarkerSettings> = {
  ...DEFINED,
  connect: (settings) => {
    const inner = DEFINED.connect(settings);
    return { ...inner, perform: (errand) => perform(inner, errand) };
  },
};

/** The effect stands in the tool's file, not in the contract: its statements ride along with the message. */
async function perform(inner: ContractConnector, errand: Errand): ReturnType<ContractConnector["perform"]> {
  const { contract } = errand;
  try {
    const request = { ...contract.request, [EFFECT_MEMBER]: effectOf(errand) };
    return await inner.perform({ ...errand, contract: { ...contract, request } });
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    const detail = `the statement cannot be written: ${problem.message}`;
    return { kind: "refused", reason: "provider_refused", detail };
  }
}

function effectOf({ action, tool }: Errand): JsonObject {
  if (tool.sql === undefined) throw new Problem("invalid", `${tool.name} has no sql.perform`);
  const written = {
    perform: statementOf(tool.sql.perform, action),
    ...(tool.sql.read === undefined ? {} : { read: statementOf(tool.sql.read, action) }),
    ...(action.expectedVersion === undefined ? {} : { version: action.expectedVersion }),
  };
  return written as unknown as Record<string, Json>; // Text and values of a stored action.
}
