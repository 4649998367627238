import type { Setting } from "./settings.ts";

/** The part of `writ.yaml` that speaks of a policy decision point of somebody else's. */
export const PDP = {
  pdp: {
    takes: "settings",
    default: null,
    sentence:
      "A policy decision point that is asked as well, over AuthZEN 1.0: both have to allow. Silence for a second, an error or a duty that is not known is a no.",
  },
  "pdp.base": {
    takes: "an address",
    default: null,
    must: true,
    sentence: "Scheme, host and path before `/access/v1/evaluation`.",
  },
  "pdp.token": {
    takes: "a secret",
    default: null,
    sentence: "Sent as `Authorization: Bearer …`.",
  },
  "pdp.allowPrivate": {
    takes: "true, false or a list",
    default: false,
    sentence: "Whether it may live at an address that is not public.",
  },
  "pdp.ca": {
    takes: "file:PATH",
    default: null,
    sentence: "Certificates (PEM) trusted instead of the system's.",
  },
  "pdp.templates": {
    takes: "roles by name",
    default: null,
    sentence:
      "Whom a denial asks instead that carries `access_request.template` with this name: the role that approves.",
  },
  "pdp.templates.*": { takes: "a role", default: null, sentence: "One role." },
} as const satisfies Readonly<Record<string, Setting>>;
