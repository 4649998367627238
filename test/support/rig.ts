import { generateKeyPairSync, sign } from "node:crypto";
import { onTestFinished } from "vitest";
import { catalog, definitionsOf, type Provider } from "../../src/catalog/catalog.ts";
import { postgresConnector } from "../../src/connectors/postgres.ts";
import type { Contract } from "../../src/core/contract.ts";
import { tenantId } from "../../src/core/ids.ts";
import type { Operation } from "../../src/core/operation.ts";
import { proposal } from "../../src/core/proposal.ts";
import type { Session } from "../../src/core/session.ts";
import type { Tool } from "../../src/core/tool.ts";
import { connect, type Database } from "../../src/database/pool.ts";
import { statement } from "../../src/database/sql.ts";
import { processClock } from "../../src/host/clock.ts";
import { processEntropy } from "../../src/host/entropy.ts";
import {
  type ClosableLedger,
  LEDGER_BOUNDS,
  type LedgerBounds,
  postgresLedger,
} from "../../src/ledger/ledger.ts";
import type { RoleTools } from "../../src/policy/short-form.ts";
import { authorityView } from "../../src/service/authority.ts";
import { capacity } from "../../src/service/capacity.ts";
import type { Connector, Log, Ports, Signer } from "../../src/service/ports.ts";
import { type Proposed, propose } from "../../src/service/propose.ts";
import { takeStep } from "../../src/service/reconcile.ts";
import { type DatabaseKind, freshDatabase } from "./database.ts";
import { rolePolicy } from "./role-policy.ts";

/** A contract for effects in the ledger's own database. */
const LEDGER_CONTRACT: Contract = {
  contract: "test.ledger/v1",
  transport: "postgres-ledger",
  requestLifeMs: 2_000,
  maxPauseMs: 2_000,
  leaseMs: 5_000,
  attemptsMax: 5,
  backoff: { firstMs: 50, maxMs: 1_000 },
  settle: { kind: "bounded", forMs: 4_000 },
  precondition: { kind: "version", atomic: "probed", versions: "never_return", replay: "dedup_first" },
  identity: { kind: "none" },
  lookup: [],
  barrier: { kind: "none" },
  outcomes: [],
  unclearMax: 3,
};

export const STOCK_TOOL: Tool = {
  name: "inventory.set_available",
  title: "Set the available stock of an item",
  provider: "stock",
  input: {
    type: "object",
    additionalProperties: false,
    required: ["warehouse", "item", "available"],
    properties: {
      warehouse: { type: "string" },
      item: { type: "string" },
      available: { type: "integer", minimum: 0 },
    },
  },
  resource: { type: "Item", id: "{warehouse}/{item}", parents: [{ type: "Warehouse", id: "{warehouse}" }] },
  expectedVersion: "required",
  sql: {
    read: "select available, version from inventory where tenant_id = :tenant and warehouse = :warehouse and item = :item",
    perform: `update inventory set available = :available, version = version + 1
      where tenant_id = :tenant and warehouse = :warehouse and item = :item and version = :expectedVersion returning available, version`,
  },
  contract: LEDGER_CONTRACT,
  permissionForMs: 60_000,
  reviewForMs: 60_000,
  autonomy: "allowed",
  lookalikes: "principal",
  intentKey: "optional",
  reversible: true,
};

const INVENTORY = `create table inventory (tenant_id text not null, warehouse text not null, item text not null, available int not null check (available >= 0),
  version int not null, writes int not null default 0, primary key (tenant_id, warehouse, item))`;
const COUNTING = `create function count_write() returns trigger language plpgsql as $$ begin new.writes := old.writes + 1; return new; end $$`;
const COUNTED = `create trigger inventory_counted before update on inventory for each row execute function count_write()`;

export interface RigOptions {
  readonly kind?: DatabaseKind;
  readonly tools?: readonly Tool[];
  readonly connectors?: Readonly<Record<string, Connector>>;
  readonly roles?: RoleTools;
  readonly bounds?: LedgerBounds;
  readonly overrides?: Partial<Ports>;
}

export interface Rig {
  readonly url: string;
  readonly database: Database;
  readonly ledger: ClosableLedger;
  readonly ports: Ports;
  readonly session: Session;
  readonly alarms: string[];
  as(changes: Partial<Session>): Session;
  run(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** The provider's own journal: how often a row of `inventory` was really written. */
  stock(item: string): Promise<{ available: number; version: number; writes: number } | undefined>;
  ask(
    args: Record<string, unknown>,
    more?: {
      version?: string | number;
      key?: string;
      session?: Session;
      tool?: string;
      execute?: "now" | "later";
      supersedes?: string;
      compensates?: string;
    },
  ): Promise<Proposed>;
  /** Proposes and waits until what it began has ended. */
  done(...given: Parameters<Rig["ask"]>): Promise<Operation>;
  again(operation: Operation): Promise<Operation>;
  /** Takes steps as a worker would, now, until nothing is due or the operation is settled. */
  step(operation: Operation): Promise<Operation>;
}

/** A real ledger on a throw-away database, with the whole service in front of it. */
export async function rig(options: RigOptions = {}): Promise<Rig> {
  const { url } = await freshDatabase(options.kind ?? "embedded");
  const database = await connect({ url });
  const ledger = postgresLedger(database, options.bounds ?? LEDGER_BOUNDS);
  onTestFinished(async () => {
    await ledger.close();
    await database.close();
  });
  const run: Rig["run"] = async (text, values = []) =>
    (await database.flight([statement(text, values)]))[0]?.rows as readonly Record<string, unknown>[];
  for (const text of [INVENTORY, COUNTING, COUNTED]) await run(text);
  const alarms: string[] = [];
  const ports = await portsOf(ledger, options, alarms);
  const session: Session = {
    tenantId: tenantId("acme"),
    principalId: "test#ada",
    clientId: "agent-1",
    roles: ["agent"],
    delegation: [],
  };
  const ask: Rig["ask"] = (args, more = {}) => {
    const claims = {
      tool: more.tool ?? STOCK_TOOL.name,
      arguments: args as never,
      expectedVersion: more.version,
      execute: more.execute,
      supersedes: more.supersedes,
      compensates: more.compensates,
    };
    return propose(ports, more.session ?? session, proposal(claims, more.key));
  };
  const again: Rig["again"] = async (operation) =>
    (await ledger.read(operation.tenantId, operation.id))?.value ?? operation;
  return {
    url,
    database,
    ledger,
    ports,
    session,
    alarms,
    run,
    ask,
    again,
    as: (changes) => ({ ...session, ...changes }),
    stock: async (item) =>
      (await run("select available, version, writes from inventory where item = $1", [item]))[0] as never,
    done: async (...given) => {
      const proposed = await ask(...given);
      return (await proposed.done) ?? proposed.operation;
    },
    step: async (operation) => {
      const read = await ledger.read(operation.tenantId, operation.id);
      if (read === undefined) return operation;
      const executed = await takeStep(ports, read.value, read.clock);
      return (await executed.done) ?? (await again(executed.operation));
    },
  };
}

async function portsOf(ledger: ClosableLedger, options: RigOptions, alarms: string[]): Promise<Ports> {
  const tools = options.tools ?? [STOCK_TOOL];
  const connectors: Record<string, Connector> = { stock: postgresConnector(), ...options.connectors };
  const providers = new Map<string, Provider>(
    Object.entries(connectors).map(([name, connector]) => [
      name,
      { connector, settingsDigest: `sha-256:${name}` },
    ]),
  );
  const tenantKeys = new Map([
    [tenantId("acme"), Buffer.alloc(32, 7)],
    [tenantId("globex"), Buffer.alloc(32, 8)],
  ]);
  await ledger.enroll(tenantId("acme"), definitionsOf(tools));
  await ledger.enroll(tenantId("globex"), definitionsOf(tools));
  return {
    ledger,
    catalog: catalog({ tools, providers, tenantKeys, ledger }),
    policy: rolePolicy(options.roles ?? { agent: ["*"] }),
    authority: authorityView(ledger),
    approvals: { openMax: 10, role: "approver" },
    clock: processClock,
    entropy: processEntropy,
    signer: testSigner(),
    log: testLog(alarms),
    capacity: capacity(),
    worker: `test-${process.pid}`,
    ...options.overrides,
  };
}

function testSigner(): Signer {
  const { privateKey } = generateKeyPairSync("ed25519");
  const header = Buffer.from(JSON.stringify({ alg: "EdDSA", kid: "test" })).toString("base64url");
  return {
    keyId: "test",
    sign: (claims) => {
      const input = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
      return `${input}.${sign(null, Buffer.from(input), privateKey).toString("base64url")}`;
    },
  };
}

function testLog(alarms: string[]): Log {
  const quiet = () => undefined;
  return {
    info: quiet,
    warn: quiet,
    error: (event, fields) => void alarms.push(`${event}: ${JSON.stringify(fields)}`),
  };
}
