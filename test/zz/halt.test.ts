import { expect, test } from "vitest";
import { proposal } from "../../src/core/proposal.ts";
import { propose } from "../../src/service/propose.ts";
import { instance } from "../support/instance.ts";
import { rig, STOCK_TOOL } from "../support/rig.ts";
import { change, refusal, rowsOf, stocked } from "../support/stock.ts";
test.each([1, 3, 8, 12])("%d instances", { timeout: 60000 }, async (n) => {
  const here = await rig();
  for (let item = 0; item < 128; item++) await stocked(here, `i${item}`, 0);
  const others = await Promise.all(Array.from({ length: n }, (_, k) => instance(here, `w${k}`)));
  const ops = await instance(here, "ops");
  let stop = false;
  const caller = async (item: number) => { for (let v = 0; !stop; v++) { const done = propose(others[item % n]!.ports, here.session, proposal({ tool: STOCK_TOOL.name, arguments: change(`i${item}`, v % 7), expectedVersion: v }, `k${item}-${v}`)); await refusal(done); } };
  const callers = Array.from({ length: 128 }, (_, i) => caller(i));
  await expect.poll(() => rowsOf(here, "receipts"), { timeout: 30000 }).toBeGreaterThan(1000);
  const out = [];
  for (let k = 0; k < 8; k++) {
    const before = await rowsOf(here, "receipts"); const t = performance.now();
    await ops.ledger.raiseEpoch(here.session.tenantId, "x", "ops").catch((e) => out.push(String(e)));
    const took = performance.now() - t; const after = await rowsOf(here, "receipts");
    out.push(`${Math.round(took)}ms/${after - before}`);
    await new Promise((r) => setTimeout(r, 150));
  }
  stop = true; await Promise.all(callers);
  console.log(n, out.join(" "));
});
