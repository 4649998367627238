import { describe, expect, test } from "vitest";
import type { FaultKind, FaultSetting } from "../../src/connectors/simulated/faults.ts";
import type { Guarantees } from "../../src/connectors/simulated/guarantees.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { errandOf, living, preset } from "./errand.ts";
import { connectorTo, shop } from "./rig.ts";

interface Class {
  readonly preset: string;
  readonly guarantees: Guarantees;
  readonly choices: { readonly arguments: JsonObject; readonly expectedVersion?: string };
}

const ORDER = { arguments: { item: "main/bolt", quantity: 2 } };
const CLASSES: Readonly<Record<string, Class>> = {
  key: {
    preset: "http/idempotency-key",
    guarantees: { key: { retentionMs: 60_000, after: "executes" } },
    choices: ORDER,
  },
  etag: {
    preset: "http/etag-document",
    guarantees: { etag: "strong", marker: true },
    choices: { arguments: { available: 18 }, expectedVersion: '"v1"' },
  },
  lookup: {
    preset: "http/marker-lookup",
    guarantees: { lookup: { lagMs: 0 }, tombstone: true },
    choices: ORDER,
  },
  none: { preset: "http/no-guarantees", guarantees: {}, choices: ORDER },
};

interface Row {
  readonly fault: FaultKind;
  readonly setting?: FaultSetting;
  readonly outcome: string;
  readonly effects: number;
  /** What a class says that the others do not. */
  readonly but?: Readonly<Record<string, string>>;
}

// Every fault with every class of guarantees: what the attempt may say, and what really happened.
const ROWS: readonly Row[] = [
  { fault: "drop_before", outcome: "lost", effects: 0 },
  { fault: "drop_after", outcome: "lost", effects: 1 },
  { fault: "error_before", outcome: "lost", effects: 0 },
  { fault: "error_after", outcome: "lost", effects: 1 },
  { fault: "hang", outcome: "lost", effects: 0 },
  { fault: "hang_after", outcome: "lost", effects: 1 },
  { fault: "slow", setting: { ms: 20 }, outcome: "confirmed", effects: 1 },
  { fault: "slow_body", setting: { ms: 30 }, outcome: "confirmed", effects: 1 },
  { fault: "cut_body", outcome: "lost", effects: 1 },
  { fault: "big_body", outcome: "lost", effects: 1 },
  { fault: "garbage", outcome: "lost", effects: 1 },
  { fault: "redirect", outcome: "lost", effects: 0 },
  { fault: "throttle", outcome: "absent", effects: 0 },
  { fault: "in_flight", outcome: "refused", effects: 0, but: { key: "lost in_flight" } },
  { fault: "answer", setting: { status: 200, body: {} }, outcome: "lost", effects: 0 },
  {
    fault: "answer",
    setting: { status: 200, text: "<html>Please log in</html>" },
    outcome: "lost",
    effects: 0,
  },
  { fault: "answer", setting: { status: 418, body: {} }, outcome: "lost", effects: 0 },
  {
    fault: "answer",
    setting: { status: 401, body: { error: "unauthorized" } },
    outcome: "refused",
    effects: 0,
  },
  { fault: "answer_after", setting: { status: 200, body: { ok: false } }, outcome: "lost", effects: 1 },
];

describe.each(Object.entries(CLASSES))(
  "a provider of the class %s",
  (name, { preset: named, guarantees, choices }) => {
    test.each(ROWS)(
      "$fault ends as the contract says: $outcome, with $effects effects at the provider",
      async ({ fault, setting, outcome, effects, but }) => {
        const provider = await shop(guarantees);
        // Only where nobody answers does the request's life decide, and then it should be short.
        const errand = errandOf(preset(named, living(fault.startsWith("hang") ? "250ms" : "5s")), choices);
        provider.fault(fault, setting);

        const learned = await connectorTo(provider.url).perform(errand);

        const words =
          learned.kind === "lost" && learned.answer !== undefined ? `lost ${learned.answer}` : learned.kind;
        expect(words).toBe(but?.[name] ?? outcome);
        expect(provider.effectsOf(errand.action.operationId)).toHaveLength(effects);
        expect(provider.requests()).toHaveLength(1);
      },
    );

    test("without a fault one request is one effect, with evidence that names it", async () => {
      const provider = await shop(guarantees);
      const errand = errandOf(preset(named, living("5s")), choices);

      const learned = await connectorTo(provider.url).perform(errand);

      expect(learned).toMatchObject({
        kind: "confirmed",
        evidence: { kind: "answer", data: { attempt: 1 } },
      });
      expect(provider.effectsOf(errand.action.operationId)).toHaveLength(1);
    });

    test("every attempt sends the same bytes", async () => {
      const provider = await shop(guarantees);
      provider.fault("drop_before", { times: "always" });
      const connector = connectorTo(provider.url);
      const contract = preset(named, living("5s"));

      for (const attempt of [1, 2, 3]) await connector.perform(errandOf(contract, { ...choices, attempt }));

      const sent = provider
        .requests()
        .map(({ method, path, headers, body }) => JSON.stringify({ method, path, headers, body }));
      expect(sent).toHaveLength(3);
      expect(new Set(sent).size).toBe(1);
    });
  },
);

test("an effect that comes after the client gave up is still counted, and the attempt never said that there is none", async () => {
  const provider = await shop();
  const errand = errandOf(preset("http/no-guarantees", living("250ms")), ORDER);
  provider.fault("slow", { ms: 350 });

  const learned = await connectorTo(provider.url).perform(errand);

  expect(learned.kind).toBe("lost");
  await expect.poll(() => provider.effectsOf(errand.action.operationId)).toHaveLength(1);
});
