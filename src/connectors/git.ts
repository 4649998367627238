import { TRANSPORTS } from "../core/transport.ts";
import { defineConnector } from "./define.ts";
import type { Exchange, Sending } from "./exchange.ts";
import { type GitMessage, gitMessageOf } from "./git/message.ts";
import { GitUnable, inScratch, sweep } from "./git/scratch.ts";
import { type GitAnswer, speak } from "./git/send.ts";
import { checkSettings, type GitSettings, secretsOf, settingsDigestValue } from "./git/settings.ts";

export type { GitSettings } from "./git/settings.ts";

/** Branches of git remotes. One operation is one commit, pushed together with a ref that only this operation creates. */
export const GIT = defineConnector<GitSettings, GitMessage>({
  kind: "git",
  transport: TRANSPORTS.git,
  settings: {
    pinned: (settings) => {
      checkSettings(settings);
      return settingsDigestValue(settings);
    },
    secrets: secretsOf,
  },
  write: gitMessageOf,
  open: async (settings) => {
    await sweep(settings);
    return {
      send: (message, sending) => send(settings, message, sending),
      // Every message has a repository and processes of its own, which end with it.
      close: async () => undefined,
    };
  },
});

async function send(settings: GitSettings, message: GitMessage, sending: Sending): Promise<Exchange> {
  const life = AbortSignal.timeout(Math.max(1, Math.ceil(sending.lifeMs)));
  const signal = AbortSignal.any([sending.signal, life]);
  const got = await asked(settings, message, { ...sending, signal });
  switch (got.kind) {
    case "unsent":
      return got;
    case "silent":
      return { ...got, phase: "pushed" };
    case "answered":
      return {
        kind: "answered",
        reply: { status: got.status, headers: {}, body: got.body, at: Date.now() },
      };
  }
}

async function asked(
  settings: GitSettings,
  message: GitMessage,
  { signal, gate }: Sending,
): Promise<GitAnswer> {
  try {
    return await inScratch(settings, signal, (scratch) => speak(scratch, message, gate));
  } catch (error) {
    if (error instanceof GitUnable) return { kind: "unsent", why: error.message };
    throw error;
  }
}
