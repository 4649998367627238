// Who is measured: each has a database of its own on the one server.

import { createPrivateKey } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../dist/database/migrate.js";
import { runScript } from "../../dist/database/script.js";
import { keyOf } from "../../dist/identity/keys.js";
import { start } from "./child.mjs";
import { floor } from "./floor.mjs";
import { TABLES } from "./offer.mjs";
import { ask } from "./server.mjs";

export async function floors(server) {
  const rows = await floor(server, "rows");
  const small = await floor(server, "small");
  return [
    { name: "floor, same rows", is: "floor", ...rows, costs: none, end: async () => undefined },
    { name: "floor, 3 rows", is: "small", ...small, costs: none, end: async () => undefined },
  ];
}

const none = async () => ({ nodeUs: undefined, allUs: 0, rssMb: undefined });

/** In one process with its callers: what the path itself costs. */
export async function engine(server) {
  const place = await prepared(server);
  const child = await start("./engine.mjs", place);
  return {
    name: "engine",
    is: "engine",
    ...place,
    run: (slot) => child.ask({ run: slot }),
    costs: () => costs(child, [place.provider]),
    ...endings([child], place),
  };
}

/** Behind its HTTP door, in a process of its own, with the callers in another. */
export async function service(server) {
  const place = await prepared(server);
  const child = await start("./service.mjs", place);
  const callers = await start("./caller.mjs", child.ready);
  return {
    name: "whole service",
    is: "service",
    ...place,
    run: (slot) => callers.ask({ run: slot }),
    costs: () => costs(child, [callers, place.provider]),
    ...endings([callers, child], place),
  };
}

async function prepared(server) {
  const url = await server.database();
  await migrate(url);
  await runScript(url, TABLES);
  await ask(url, "vacuum analyze");
  const provider = await start("./provider.mjs");
  return { url, home: mkdtempSync(join(tmpdir(), "writ-bench-")), provider, shop: provider.ready.url };
}

async function costs(measured, others) {
  const { cpuUs, rssMb } = await measured.ask({ cost: true });
  let allUs = cpuUs;
  for (const other of others) allUs += (await other.ask({ cost: true })).cpuUs;
  return { nodeUs: cpuUs, allUs, rssMb };
}

function endings(children, { provider, home }) {
  return {
    effects: () => provider.ask({ effects: true }),
    jwks: () => {
      const jwk = JSON.parse(readFileSync(join(home, "keys", "receipts.jwk.json"), "utf8"));
      return { keys: [keyOf(createPrivateKey({ key: jwk, format: "jwk" })).publicKey] };
    },
    end: async () => {
      for (const child of [...children, provider]) await child.end();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
