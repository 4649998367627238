import { expect, test } from "vitest";
import { door, FOREIGN, type TestDoor } from "../support/door.ts";
import type { Call } from "../support/exchange.ts";
import { rig } from "../support/rig.ts";
import { BODY, BYTES, ENVELOPE, HEADERS, MEANING } from "./bad-input.ts";

test.each([
  ["bytes", BYTES],
  ["the envelope", ENVELOPE],
  ["what it means", MEANING],
  ["headers", HEADERS],
])(
  "bad input in %s is one clear problem that names the place, and nothing is stored",
  async (_what, cases) => {
    const here = await rig();
    await here.run("insert into inventory values ('acme', 'main', 'widget', 5, 42)");
    const { call } = await door(here);

    for (const [name, given, status, code, at] of cases) {
      const { body } = await call(
        "POST",
        name === "an unknown parameter" ? "/v1/operations?dry_run=1" : "/v1/operations",
        given,
      );
      expect({
        name,
        status: body.status,
        code: body.code,
        ...(at === undefined ? {} : { at: body.at }),
      }).toEqual({ name, status, code, ...(at === undefined ? {} : { at }) });
      // No stack, no path of ours, and nothing of what was sent but names.
      expect(JSON.stringify(body)).not.toMatch(/node_modules|\.ts\b|at .*:\d+:\d+/);
    }

    expect(await here.run("select count(*)::int as n from operations")).toEqual([{ n: 0 }]);
    expect(await here.run("select count(*)::int as n from intent_keys")).toEqual([{ n: 0 }]);
    expect((await here.stock("widget"))?.writes).toBe(0);
    expect(here.alarms).toEqual([]);
  },
);

test("a charset of UTF-8 is JSON as any other", async () => {
  const here = await rig();
  await here.run("insert into inventory values ('acme', 'main', 'widget', 5, 42)");
  const { propose } = await door(here);

  for (const [index, type] of [
    "application/json; charset=utf-8",
    'Application/JSON;charset="UTF-8"',
  ].entries()) {
    expect(
      (
        await propose(
          { ...BODY, expectedVersion: 42 + index },
          { headers: { "content-type": type, "idempotency-key": `k${index}` } },
        )
      ).status,
    ).toBe(200);
  }
});

test("an id that is malformed, absent, another tenant's or somebody else's reads exactly alike", async () => {
  const here = await rig();
  await here.run(
    "insert into inventory values ('acme', 'main', 'widget', 5, 42), ('globex', 'main', 'widget', 5, 42)",
  );
  const there = await door(here);
  const theirs = (await there.propose(BODY, { as: FOREIGN })).body.operationId;
  const ids = ["op_1", `op_${"a".repeat(32)}`, theirs, `${theirs}'--`, "..%2f..", "%00", "O".repeat(64)];

  const reads = await everyRoute(there, ids, undefined);
  const others = await everyRoute(there, [theirs], { principal: "bob" });

  expect(new Set([...reads, ...others])).toEqual(
    new Set([JSON.stringify({ status: 404, code: "not_found", detail: "no such operation" })]),
  );
  expect((await there.call("GET", `/v1/operations/${"o".repeat(65)}`)).body.code).toBe("not_found");
});

async function everyRoute(
  { call }: TestDoor,
  ids: readonly string[],
  as: Call["as"],
): Promise<readonly string[]> {
  const calls = ids.flatMap((id) => [
    ...["", "/explanation", "/receipt", "/events"].map(
      (part) => ["GET", `/v1/operations/${id}${part}`] as const,
    ),
    ...["/execute", "/cancel", "/reconcile"].map((part) => ["POST", `/v1/operations/${id}${part}`] as const),
  ]);
  const answers = await Promise.all(
    calls.map(([method, path]) => call(method, path, as === undefined ? {} : { as })),
  );
  return answers.map(({ body: { status, code, detail } }) => JSON.stringify({ status, code, detail }));
}
