// `npm run bench -- decide`: what one decision of policy costs, remembered and not, by links of the chain and by size of the policy.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { cedarEngine } from "../dist/policy/cedar.js";
import { policyDigest } from "../dist/policy/ruleset.js";
import { quiet } from "./path/quiet.mjs";

const { values: asked } = parseArgs({
  options: {
    ms: { type: "string", default: "1500" },
    links: { type: "string", default: "1,3,5" },
    policies: { type: "string", default: "10,100,1000" },
  },
});
const ms = Number(asked.ms);
const TOOLS = Array.from({ length: 10 }, (_, index) => tool(`inventory.t${index}`));

let asking = 0;
/** An argument that was never asked about. */
const fresh = () => ++asking;

await warmedUp();
const rows = [];
let first;
for (const count of asked.policies.split(",").map(Number))
  for (const spread of [true, false]) {
    const started = performance.now();
    const { engine, version } = standing(count, spread);
    await engine.opinions(question(version, 1, 0));
    const loadedMs = performance.now() - started;
    for (const links of asked.links.split(",").map(Number)) {
      const miss = await measured(engine, version, links, fresh);
      const hit = await measured(engine, version, links, () => -1);
      first ??= { hitUs: hit.cpuUs, missUs: miss.cpuUs };
      rows.push({
        rules: count,
        "rules for the tool": spread ? `${count / TOOLS.length}` : `${count}`,
        links,
        evaluations: links + 1,
        "miss CPU": us(miss.cpuUs),
        "miss /s": Math.round(1e6 / miss.cpuUs),
        "hit CPU": us(hit.cpuUs),
        "hit /s": Math.round(1e6 / hit.cpuUs),
        load: `${Math.round(loadedMs)} ms`,
      });
    }
  }
console.table(rows);
console.log(
  "CPU of this process for one decision; /s is decisions on one core. load: check, slice, parse and first decision.",
);
ofThePath(first);

/** What a decision is of one operation, where `npm run bench -- path -o json` was run before. */
function ofThePath({ hitUs, missUs }) {
  const path = fileURLToPath(new URL("../tmp/bench-path.json", import.meta.url));
  if (!existsSync(path)) {
    console.log("For its share of an operation run `npm run bench -- path -o json` first.");
    return;
  }
  const { slots } = JSON.parse(readFileSync(path, "utf8"));
  const busy = slots
    .filter(({ is, kind }) => is === "engine" && kind === "local")
    .sort((a, b) => b.callers - a.callers)[0];
  if (busy?.nodeUs === undefined) return;
  console.log(
    `of a local operation's ${us(busy.nodeUs)} in Node: ${`${((hitUs / busy.nodeUs) * 100).toFixed(1)} %`} where it is remembered, ${us(missUs - hitUs)} more where it is not`,
  );
}

/** WebAssembly gets faster in its first seconds, which are nobody's decision. */
async function warmedUp() {
  const { engine, version } = standing(10, true);
  for (let n = 0; n < 1_500; n++) await engine.opinions(question(version, 1, fresh()));
}

async function measured(engine, version, links, argument) {
  // What the first calls compile is not what a decision costs.
  for (let n = 0; n < 20; n++) await engine.opinions(question(version, links, argument()));
  const from = process.cpuUsage();
  const until = performance.now() + ms;
  let n = 0;
  while (performance.now() < until) {
    const [opinion] = await engine.opinions(question(version, links, argument()));
    if (opinion.effect !== "allow") throw new Error(`it was not allowed: ${opinion.why}`);
    n += 1;
  }
  const { user, system } = process.cpuUsage(from);
  return { n, cpuUs: (user + system) / n };
}

/** Every rule reads an argument that no two questions share, so that a miss is a miss for every principal. */
function standing(count, spread) {
  const base = [
    `@id("people") permit(principal is Writ::User, action in Writ::Action::"*", resource) when { principal.roles.contains("clerk") };`,
    `@id("clients") permit(principal is Writ::Service, action in Writ::Action::"*", resource) unless { context.itself || principal.name == "agent-0" };`,
  ];
  const rules = Array.from({ length: count - base.length }, (_, index) => {
    const name = TOOLS[spread ? index % TOOLS.length : 0].name;
    return `@id("rule.${index}") forbid(principal, action == Writ::Action::"${name}", resource)
      when { context.input.available > ${2_000_000_000 + index} && resource in Writ::Warehouse::"w${index}" };`;
  });
  const text = { files: [{ name: "policies/bench.cedar", text: [...base, ...rules].join("\n") }] };
  const engine = cedarEngine({
    store: { read: async () => text },
    tools: TOOLS,
    environment: "production",
    look: { current: async () => undefined, recent: async () => ({ denials: 0, conflicts: 0 }) },
    log: quiet,
  });
  return { engine, version: `1.${policyDigest(text)}` };
}

function question(policyVersion, links, available) {
  const delegation = Array.from({ length: links }, (_, index) => ({
    id: `dlg_${index}`,
    by: index === 0 ? "principal" : "client",
    delegator: index === 0 ? "https://issuer.example#ada" : `agent-${index}`,
    holder: `agent-${index + 1}`,
  }));
  return {
    session: {
      tenantId: "acme",
      principalId: "https://issuer.example#ada",
      clientId: `agent-${links}`,
      roles: ["clerk"],
      delegation,
    },
    tool: TOOLS[0],
    resource: { type: "Item", id: "main/widget", parents: [{ type: "Warehouse", id: "main" }] },
    arguments: { warehouse: "main", item: "widget", available },
    expectedVersion: "7",
    authority: { epoch: 1, offered: "", halts: [], policyVersion },
  };
}

function tool(name) {
  const text = { type: "string" };
  return {
    name,
    title: name,
    provider: "stock",
    input: {
      type: "object",
      required: ["warehouse", "item", "available"],
      properties: { warehouse: text, item: text, available: { type: "integer" } },
    },
    resource: { type: "Item", id: "{warehouse}/{item}", parents: [{ type: "Warehouse", id: "{warehouse}" }] },
    expectedVersion: "required",
    contract: { transport: "postgres-ledger", precondition: { kind: "version", atomic: "probed" } },
    reversible: true,
  };
}

function us(value) {
  return value >= 1000 ? `${(value / 1000).toFixed(2)} ms` : `${value.toFixed(1)} µs`;
}
