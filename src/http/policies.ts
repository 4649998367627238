import { Type } from "typebox";
import {
  activatePolicy,
  type Candidate,
  keepPolicy,
  type Standing,
  standingPolicy,
} from "../service/policy.ts";
import type { PolicyVersion } from "../service/policy-port.ts";
import { type Replay, replayPolicy } from "../service/replay.ts";
import {
  ActivationBody,
  CandidateAnswer,
  PoliciesAnswer,
  PolicyBody,
  PolicyVersionAnswer,
  ReplayAnswer,
  ReplayBody,
} from "../wire/policy.ts";
import { type App, type Door, sessionOf } from "./door.ts";
import { described, json, NO_QUERY, REFUSALS } from "./route.ts";

const POLICY_PATH = Type.Object(
  { version: Type.String({ description: "The policy's digest." }) },
  { additionalProperties: false },
);
const REPLAYED_BY_DEFAULT = 100;

/** Policies stand by an event with an actor, and are never switched off. */
export function policyRoutes(app: App, door: Door): void {
  app.get(
    "/v1/policies",
    {
      config: { permission: ["policy-admin", "operator", "auditor"] },
      schema: {
        querystring: NO_QUERY,
        ...described({
          name: "getPolicies",
          summary: "The policy that stands, and the activations that led there",
          tag: "authority",
          answers: { 200: json("Whole.", PoliciesAnswer) },
          refusals: REFUSALS.session,
        }),
      },
    },
    async (request) => standingAnswer(await standingPolicy(door.ports, sessionOf(request))),
  );
  app.post(
    "/v1/policies",
    {
      config: { permission: ["policy-admin"] },
      schema: {
        body: PolicyBody,
        querystring: NO_QUERY,
        ...described({
          name: "keepPolicy",
          summary: "Check a policy, keep it, and see what it would change",
          tag: "authority",
          description: "It does not stand by this. Kept by content: the same again is the same.",
          answers: { 201: json("Kept.", CandidateAnswer) },
          refusals: [...REFUSALS.body, "invalid", "revoked"],
        }),
      },
    },
    async (request, reply) =>
      reply.code(201).send(candidateAnswer(await keepPolicy(door.ports, sessionOf(request), request.body))),
  );
  activationRoute(app, door);
  replayRoute(app, door);
}

function activationRoute(app: App, door: Door): void {
  app.post(
    "/v1/policies/:version/activate",
    {
      config: { permission: ["policy-admin"] },
      schema: {
        params: POLICY_PATH,
        body: ActivationBody,
        querystring: NO_QUERY,
        ...described({
          name: "activatePolicy",
          summary: "Let a kept policy stand",
          tag: "authority",
          description:
            "Effective at the next claim, in every process. Going back is the same with an older policy, under a new number.",
          answers: { 200: json("It stands.", PolicyVersionAnswer) },
          refusals: [...REFUSALS.body, "invalid", "not_found", "policy_moved", "revoked"],
        }),
      },
    },
    async (request) => {
      const order = { digest: request.params.version, ...request.body };
      return versionAnswer(await activatePolicy(door.ports, sessionOf(request), order));
    },
  );
}

function replayRoute(app: App, door: Door): void {
  app.post(
    "/v1/policies/:version/replay",
    {
      config: { permission: ["policy-admin", "auditor"] },
      schema: {
        params: POLICY_PATH,
        body: ReplayBody,
        querystring: NO_QUERY,
        ...described({
          name: "replayPolicy",
          summary: "Which of the last decisions a kept policy would give otherwise, and why",
          tag: "authority",
          answers: { 200: json("Nothing was changed.", ReplayAnswer) },
          refusals: [...REFUSALS.body, "not_found"],
        }),
      },
    },
    async (request) => {
      const asked = { digest: request.params.version, max: request.body.last ?? REPLAYED_BY_DEFAULT };
      return replayAnswer(await replayPolicy(door.ports, sessionOf(request), asked));
    },
  );
}

function standingAnswer({ version, policy, activations }: Standing): PoliciesAnswer {
  return {
    version,
    files: policy.files.map((file) => ({ ...file })),
    activations: activations.map(versionAnswer),
  };
}

function versionAnswer({ version, digest, actor, reason, at }: PolicyVersion): PolicyVersionAnswer {
  return { version, digest, actor, reason, at: new Date(at).toISOString() };
}

function candidateAnswer({ digest, standing, changes }: Candidate): CandidateAnswer {
  return { digest, standing, changes: changes.map((change) => ({ ...change })) };
}

function replayAnswer({ flips, ...counts }: Replay): ReplayAnswer {
  const said = ({ policies, requirements, ...rest }: Replay["flips"][number]["was"]) => ({
    ...rest,
    policies: [...policies],
    requirements: [...requirements],
  });
  return {
    ...counts,
    flips: flips.map(({ at, was, would, ...flip }) => ({
      ...flip,
      at: new Date(at).toISOString(),
      was: said(was),
      would: said(would),
    })),
  };
}
