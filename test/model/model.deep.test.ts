import { expect, test } from "vitest";
import type { ContractClass } from "./contract-class.ts";
import { CLASSES } from "./contracts.ts";
import { REAL } from "./rules.ts";
import { search } from "./search.ts";
import { strangersUntil } from "./walk.ts";

/** One send more, and one more moment of permission: some ten times the states of the ordinary test. */
function larger(cls: ContractClass): ContractClass {
  const { contract, permissionFor } = cls;
  return {
    ...cls,
    contract: { ...contract, attemptsMax: contract.attemptsMax + 1 },
    permissionFor: permissionFor + 1,
  };
}

test.each(CLASSES)("every invariant holds with one send more: $name", (cls) => {
  const { states, transitions, seconds, broken, capped } = search(larger(cls), REAL);

  process.stdout.write(
    `${cls.name.padEnd(60)} ${states} states, ${transitions} steps, ${seconds.toFixed(1)} s\n`,
  );
  expect(broken?.path.map(({ what, who, n }) => `${what} ${who} ${n}`) ?? []).toEqual([]);
  expect(capped, "the whole space was visited").toBe(false);
});

test.each(CLASSES)("no world that exact clocks tell apart is lost by the keys: $name", (cls) => {
  const { keys } = search(cls, REAL);

  const { worlds, strange } = strangersUntil(cls, keys, { ticks: 5, max: 60_000 });

  process.stdout.write(`${cls.name.padEnd(60)} ${worlds} exact worlds\n`);
  expect(strange).toBe(0);
});
