import { describe, expect, test } from "vitest";
import type { ReadQuestion } from "../../src/service/ports.ts";
import { errandOf, living, preset } from "./errand.ts";
import { connectorTo, shop } from "./rig.ts";

const ETAG = preset("http/etag-document", living("5s"));
const ASKED: ReadQuestion = {
  tenantId: "acme",
  resourceId: "main/bolt",
  arguments: {},
  contract: ETAG,
  signal: new AbortController().signal,
};
const change = (expectedVersion: string, operation = 1) =>
  errandOf(ETAG, { arguments: { available: 18 }, expectedVersion, operation });

test("the version that was read is the one that the write is compared with", async () => {
  const provider = await shop({ etag: "strong", marker: true });
  const connector = connectorTo(provider.url);

  const read = await connector.read(ASKED);
  const learned = await connector.perform(change(read.kind === "read" ? read.version : ""));

  expect(read).toEqual({
    kind: "read",
    version: '"v1"',
    value: { resource: "main/bolt", available: 20, version: 1 },
  });
  expect(learned).toMatchObject({ kind: "confirmed", evidence: { data: { version: '"v2"' } } });
});

test("C098 a stale version is refused with the current one, and nothing is sent a second time", async () => {
  const provider = await shop({ etag: "strong", marker: true });
  provider.writeAsSomebodyElse("main/bolt", 11);

  const learned = await connectorTo(provider.url).perform(change('"v1"'));

  expect(learned).toEqual({
    kind: "refused",
    reason: "precondition_failed",
    detail: "the provider answered 412: the item is at another version",
    currentVersion: '"v2"',
  });
  expect(provider.requests()).toHaveLength(1);
});

test("C092 of two writers with one version one wins; a provider that ignores If-Match lets both, and its journal shows the lost update", async () => {
  const results: Record<string, readonly [string[], number]> = {};
  for (const etag of ["strong", "ignored"] as const) {
    const provider = await shop({ etag, marker: true });
    const connector = connectorTo(provider.url);
    const learned = await Promise.all(
      [1, 2].map((operation) => connector.perform(change('"v1"', operation))),
    );
    results[etag] = [
      learned.map(({ kind }) => kind).sort(),
      provider.journal().filter(({ by }) => by === "request").length,
    ];
  }

  expect(results).toEqual({
    strong: [["confirmed", "refused"], 1],
    ignored: [["confirmed", "confirmed"], 2],
  });
});

test("a provider that applies and then denies is caught by its marker, not believed", async () => {
  const provider = await shop({ etag: "applies_then_412", marker: true });
  const connector = connectorTo(provider.url);
  const errand = change('"v1"');

  const learned = await connector.perform(errand);

  expect(learned.kind).toBe("refused");
  expect(await connector.lookUp(errand, "marker")).toMatchObject({ kind: "confirmed" });
  expect(provider.effectsOf(errand.action.operationId)).toHaveLength(1);
});

test("C093 a weak version is not read as one, and none is ever sent", async () => {
  const provider = await shop({ etag: "weak", marker: true });
  const connector = connectorTo(provider.url);

  expect(await connector.read(ASKED)).toMatchObject({ kind: "unclear" });
  expect(await connector.perform(change('W/"v1"'))).toMatchObject({
    kind: "refused",
    detail: expect.stringContaining("strong validator"),
  });
  expect(provider.requests().map(({ method }) => method)).toEqual(["GET"]);
});

test.each(["*", 'W/"v1"', '"v1", "v2"', '"v1",*', "v 1"])("If-Match %s is never sent", async (version) => {
  const provider = await shop({ etag: "strong", marker: true });

  expect((await connectorTo(provider.url).perform(change(version))).kind).toBe("refused");
  expect(provider.connections()).toBe(0);
});

describe("C094 a proxy that changes tags", () => {
  test.each(["weakens", "suffixes", "strips"] as const)(
    "of compressed answers only (%s) changes nothing: compression is not asked for",
    async (does) => {
      const provider = await shop({ etag: "strong", marker: true, proxy: { does, when: "compressed" } });

      expect(await connectorTo(provider.url).read(ASKED)).toMatchObject({ kind: "read", version: '"v1"' });
    },
  );

  test.each(["weakens", "strips"] as const)(
    "of all answers (%s) leaves no version to trust",
    async (does) => {
      const provider = await shop({ etag: "strong", marker: true, proxy: { does, when: "always" } });

      expect((await connectorTo(provider.url).read(ASKED)).kind).toBe("unclear");
    },
  );

  test("of all answers by a suffix ends as a clear conflict, once", async () => {
    const provider = await shop({
      etag: "strong",
      marker: true,
      proxy: { does: "suffixes", when: "always" },
    });
    const connector = connectorTo(provider.url);
    const read = await connector.read(ASKED);

    const learned = await connector.perform(change(read.kind === "read" ? read.version : ""));

    expect(learned).toMatchObject({ kind: "refused", reason: "precondition_failed" });
    expect(provider.requests()).toHaveLength(2);
  });
});

test("what is not there is absent, and what cannot be asked is unclear", async () => {
  const provider = await shop({ etag: "strong" });
  const connector = connectorTo(provider.url);
  provider.fault("answer", { status: 403 });

  expect((await connector.read(ASKED)).kind).toBe("unclear");
  expect((await connector.read({ ...ASKED, resourceId: "main/nut" })).kind).toBe("absent");
  expect((await connector.read({ ...ASKED, contract: preset("http/no-guarantees") })).kind).toBe("unclear");
  await provider.close();
  expect((await connector.read(ASKED)).kind).toBe("unclear");
});
