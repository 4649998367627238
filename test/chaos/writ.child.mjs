// A process of Writ as it ships (dist), for tests that kill it. Told by its first argument what it is; tells its parent what it was answered.
import { generateKeyPairSync } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { catalog, definitionsOf } from "../../dist/catalog/catalog.js";
import { httpConnector } from "../../dist/connectors/http.js";
import { postgresConnector } from "../../dist/connectors/postgres.js";
import { proposal } from "../../dist/core/proposal.js";
import { connect } from "../../dist/database/pool.js";
import { statement } from "../../dist/database/sql.js";
import { processClock } from "../../dist/host/clock.js";
import { processEntropy } from "../../dist/host/entropy.js";
import { receiptSigner } from "../../dist/identity/receipts.js";
import { postgresLedger } from "../../dist/ledger/ledger.js";
import { authorityView } from "../../dist/service/authority.js";
import { capacity } from "../../dist/service/capacity.js";
import { propose } from "../../dist/service/propose.js";
import { startWorker, WORKER_BOUNDS } from "../../dist/worker.js";

const told = JSON.parse(process.argv[2]);
const database = await connect({ url: told.databaseUrl });
const ledger = postgresLedger(database);
const connectors = {
  stock: postgresConnector(),
  shop: httpConnector({ base: told.providerUrl, allowPrivate: ["127.0.0.1"] }),
};
const providers = new Map(
  Object.entries(connectors).map(([name, connector]) => [
    name,
    { connector, settingsDigest: `sha-256:${name}` },
  ]),
);
const session = {
  tenantId: "acme",
  principalId: "test#ada",
  clientId: "agent-1",
  roles: ["agent"],
  delegation: [],
};
await ledger.enroll("acme", definitionsOf(told.tools));
const log = () => undefined;
const ports = {
  ledger,
  catalog: catalog({
    tools: told.tools,
    providers,
    tenantKeys: new Map([["acme", Buffer.alloc(32, 7)]]),
    ledger,
  }),
  policy: {
    version: () => "child",
    opinions: async () => [
      { of: "principal", effect: "allow", policies: ["role.agent"], requirements: [], obligations: [] },
    ],
    approves: async () => false,
  },
  authority: authorityView(ledger),
  clock: processClock,
  entropy: processEntropy,
  signer: receiptSigner({ keyId: "test", privateKey: generateKeyPairSync("ed25519").privateKey }),
  log: { info: log, warn: log, error: log },
  approvals: { openMax: 10, role: "approver" },
  capacity: capacity(),
  worker: told.name,
};

startWorker(ports, { ...WORKER_BOUNDS, idleMs: 50 });
process.send({ ready: true });
for (let caller = 0; caller < told.callers; caller++) void (caller % 2 === 0 ? write(caller) : order(caller));

/** Changes one row again and again; says what it was told has happened. */
async function write(caller) {
  const item = `i${caller}`;
  const read = "select version from inventory where tenant_id = 'acme' and item = $1";
  let version = (await database.read(statement(read, [item]))).rows[0].version;
  for (let n = 0; ; n++) {
    const args = { warehouse: "wh_1", item, available: n };
    if ((await send("inventory.set_available", args, `${told.name}-${caller}-${n}`, version)) === "succeeded")
      version += 1;
  }
}

/** Places one order after the other at the provider. */
async function order(caller) {
  for (let n = 0; ; n++) {
    const name = `${told.name}-${caller}-${n}`;
    await send("orders.place", { order: name, item: "main/bolt", quantity: 1 }, name, undefined);
  }
}

async function send(tool, args, key, expectedVersion) {
  const asked = proposal({ tool, arguments: args, expectedVersion }, key);
  for (;;) {
    try {
      const { operation, done } = await propose(ports, session, asked);
      const { id, state } = (await done) ?? operation;
      process.send({ acknowledged: { id, state } });
      return state;
    } catch (error) {
      // What a client does that heard nothing: the same again, under the same key.
      if (error.code === undefined) throw error;
      await pause(20);
    }
  }
}
