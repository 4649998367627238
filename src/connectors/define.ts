import type { JsonObject } from "../core/json.ts";
import type { Message } from "../core/message.ts";
import type { Transport } from "../core/transport.ts";
import type { Written } from "../core/written.ts";
import { type ContractConnector, contractConnector } from "./contract-connector.ts";
import { cleaner } from "./hygiene.ts";
import { type Line, openLine } from "./line.ts";
import type { Subject } from "./variable.ts";

/** What the settings of every provider may hold beside what its transport needs. */
export interface CommonSettings {
  /** `{{secret:NAME}}` in messages, where the transport's form allows one. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** `{{writ.NAME}}` in messages: our own fixed texts, pinned by the settings' digest. */
  readonly writ?: Readonly<Record<string, string>>;
  /** A larger answer is cut off, and what it said stays unknown. */
  readonly answerMaxBytes?: number;
}

/** How references in a provider's settings are read. */
export interface SettingsReading {
  /** The secret that `env:NAME` or `file:PATH` names. */
  readonly secret: (written: Written) => string;
  /** The text of `file:PATH`. */
  readonly file: (written: Written) => string;
}

/** One kind of connector: how its providers are named, what its messages look like, and how one is sent. Everything else is the contract's. */
export interface ConnectorDefinition<Settings extends CommonSettings, Rendered> {
  /** The name in `kind:` of a provider and `transport:` of a contract. */
  readonly kind: string;
  /** What the rules know of it, with the grammar of its messages. */
  readonly transport: Transport;
  readonly settings: {
    /** Reads `providers.NAME` of writ.yaml. Kinds that come with Writ are read by its own configuration. */
    readonly parse?: (written: Written, reading: SettingsReading) => Settings;
    /**
     * What an action pins: all that is no secret, and a fingerprint of each credential (`fingerprint`). Another credential is another
     * identity to the provider, so a repeat under it would not be recognized. Throws `invalid` for settings that cannot be used.
     */
    readonly pinned: (settings: Settings) => JsonObject;
    /** Every text that must never be shown, in the form the provider knows it. */
    readonly secrets: (settings: Settings) => readonly string[];
    /** `{{base}}`, where the transport has one. */
    readonly base?: (settings: Settings) => string;
  };
  /** The message from the stored action alone: every attempt gives these bytes again. Throws `invalid` for what can never be written. */
  readonly write: (message: Message, subject: Subject, settings: Settings) => Rendered;
  /** Loads the client library here, so that nobody pays for a kind that is not used. */
  readonly open: (settings: Settings) => Line<Rendered> | Promise<Line<Rendered>>;
}

/** A kind of connector, ready to be given the settings that its own `parse` read: written as methods, so that kinds stand in one list. */
export interface ConnectorKind<Settings> {
  readonly kind: string;
  readonly transport: Transport;
  readonly parse?: (written: Written, reading: SettingsReading) => Settings;
  pinned(settings: Settings): JsonObject;
  /** Throws `invalid` for settings that cannot be used; opens nothing. */
  connect(settings: Settings): ContractConnector;
}

const ANSWER_MAX_BYTES = 1024 * 1024;

/** The public way to write a connector. */
export function defineConnector<Settings extends CommonSettings, Rendered>(
  definition: ConnectorDefinition<Settings, Rendered>,
): ConnectorKind<Settings> {
  const { kind, transport, settings: reading, write, open } = definition;
  return {
    kind,
    transport,
    ...(reading.parse === undefined ? {} : { parse: reading.parse }),
    pinned: reading.pinned,
    connect: (settings) => {
      reading.pinned(settings);
      return contractConnector({
        kind,
        line: openLine({
          write: (message, subject) => write(message, subject, settings),
          open: () => open(settings),
          answerMaxBytes: settings.answerMaxBytes ?? ANSWER_MAX_BYTES,
        }),
        fixed: {
          base: reading.base?.(settings) ?? "",
          writ: settings.writ ?? {},
          secrets: settings.secrets ?? {},
        },
        clean: cleaner(reading.secrets(settings)),
        proves: (phase) => transport.phases[phase] === "nothing",
      });
    },
  };
}
