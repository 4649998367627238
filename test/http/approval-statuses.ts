import { Problem } from "../../src/core/problem.ts";
import type { DoorParts } from "../../src/http/door.ts";
import type { Passkey, Passkeys } from "../../src/service/approval-port.ts";
import type { TestDoor } from "../support/door.ts";
import { asks, changingPolicy, person } from "../support/people.ts";
import { type Rig, rig } from "../support/rig.ts";
import { BODY } from "./routes.ts";

type Counted = (here: Pick<Rig, "ports">, parts?: Partial<DoorParts>) => Promise<TestDoor>;

const BOB = { principal: "bob", client: "console", roles: ["approver"] };

/** Everything that can become of a decision, and of a passkey, in one story: the statuses in their order. */
export async function approvalStatuses(counted: Counted): Promise<readonly number[]> {
  const policy = changingPolicy({ effect: "review", requirements: [asks()] });
  const here = await rig({ overrides: { policy } });
  await here.run("insert into inventory values ('acme', 'main', 'widget', 5, 42)");
  Object.assign(here.ports, { approvals: { openMax: 1, role: "approver", passkeys: enrolling() } });
  const there = await counted(here);
  const own = person(here, "bob", { authentication: { via: "console" } });
  const bob = await counted(here, { identify: async () => own });
  const one = { ...BODY, execute: "later" };
  const two = { ...BODY, arguments: { ...BODY.arguments, available: 19 } };

  const waits = await there.propose(one);
  const path = `/v1/operations/${waits.body.operationId}/decisions`;
  const full = await there.propose(two);
  const early = await bob.call("POST", `${path}/withdraw`);
  const { digest, nonce } = (await bob.call("GET", `/v1/approvals/${waits.body.operationId}`)).body;
  const yes = await bob.call("POST", path, { body: { decision: "approve", digest, nonce } });
  const back = await bob.call("POST", `${path}/withdraw`);
  const again = (await bob.call("GET", `/v1/approvals/${waits.body.operationId}`)).body.nonce;
  const no = await bob.call("POST", path, { body: { decision: "reject", digest, nonce: again } });
  const twice = await bob.call("POST", path, { body: { decision: "reject", digest, nonce: again } });
  const settled = await bob.call("POST", `${path}/withdraw`);
  policy.voice = { effect: "allow" };
  const free = await there.propose(two);
  const unasked = await there.call("GET", `/v1/approvals/${free.body.operationId}`, { as: BOB });
  const late = await there.call("POST", path, { as: BOB, body: { decision: "approve", digest, nonce } });
  const body = { ticket: "t", response: {}, name: "laptop" };
  const enrolled = await bob.call("POST", "/v1/passkeys", { body });
  const unusable = await bob.call("POST", "/v1/passkeys", { body: { ...body, ticket: "old" } });
  const removed = await bob.call("POST", "/v1/passkeys/remove", { body: { id: "p" } });
  return [waits, full, early, yes, back, no, twice, settled, unasked, late, enrolled, unusable, removed].map(
    ({ status }) => status,
  );
}

const PASSKEY: Passkey = {
  id: "p",
  person: "test#bob",
  name: "laptop",
  publicKey: "",
  counter: 0,
  transports: [],
  createdAt: 0,
};

/** Passkeys without an authenticator: what real ones say is in webauthn.test.ts. */
function enrolling(): Passkeys {
  const unused = async () => Promise.reject(new Error("not asked for here"));
  return {
    rpId: "localhost",
    store: { list: async () => [], add: unused, remove: async () => true, count: unused },
    enrolment: unused,
    enrol: async (_holder, { ticket }) =>
      ticket === "t" ? PASSKEY : Promise.reject(new Problem("invalid", "over", { at: "/ticket" })),
    verify: unused,
  };
}
