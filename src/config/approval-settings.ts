import type { Setting } from "./settings.ts";

/** Every setting about asking people. */
export const APPROVALS = {
  approvals: {
    takes: "settings",
    default: null,
    sentence: "How people are asked.",
  },
  "approvals.openMax": {
    takes: "a number",
    default: 10,
    sentence:
      "Proposals of one client that may wait for people at once, 1 to 1000. The next is refused with 429.",
  },
  "approvals.role": {
    takes: "a role",
    default: "approver",
    sentence: "Whom a tool asks that has not earned its autonomy.",
  },
  "approvals.authenticatedWithin": {
    takes: "a time",
    default: null,
    sentence:
      "How long ago a person who says yes may have signed in, at most, whatever policy asks. Without it: as policy says.",
  },
  "approvals.passkeys": {
    takes: "site and origins",
    default: null,
    sentence:
      "For which site passkeys are. Without it: for the host of `publicUrl`, where that is a name and not an address.",
  },
  "approvals.passkeys.rpId": {
    takes: "a host",
    default: null,
    must: true,
    sentence: "The host of the console, or a domain above it.",
  },
  "approvals.passkeys.origins": {
    takes: "a list of origins",
    default: null,
    must: true,
    sentence: "Where pages live on which passkeys sign, such as `https://writ.acme.example`.",
  },
  "approvals.notify": {
    takes: "settings",
    default: null,
    sentence: "Who outside is told that people are asked: an opaque link, and nothing that acts.",
  },
  "approvals.notify.url": {
    takes: "an address",
    default: null,
    must: true,
    sentence:
      "Called with POST, once and without waiting. Must be https, or http on this machine's loopback.",
  },
  "approvals.notify.allowPrivate": {
    takes: "true, false or a list",
    default: false,
    sentence: "Whether it may live at an address that is not public; as for providers.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
