import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { annotated } from "../../src/policy/annotations.ts";
import { cedar, mistakes, PERMITS, policy, stock } from "../support/cedar.ts";

const HEAD = `permit(principal is Writ::User, action == Writ::Action::"inventory.set_available", resource)`;
const ASKING = `forbid(principal is Writ::User, action == Writ::Action::"inventory.set_available", resource)`;

describe("a mistake is one error with file, line and the sentence that mends it:", () => {
  const cases: readonly (readonly [name: string, text: string, says: RegExp])[] = [
    ["no name", `\n\n${HEAD};`, /^policies\/1\.cedar:3: give it a name: @id/],
    ["a name that is none", `@id("a b") ${HEAD};`, /:1: "a b" is no name/],
    [
      "a name twice",
      `@id("a") ${HEAD};\n@id("a") ${ASKING};`,
      /:2: "a" is the name of the rule at policies\/1\.cedar:1/,
    ],
    [
      "an annotation that is unknown",
      `@id("a") @approvals("x") ${ASKING};`,
      /there is no annotation @approvals/,
    ],
    ["an approval on a permit", `@id("a") @approval("x") ${HEAD};`, /@approval stands on a forbid/],
    ["a quorum without an approval", `@id("a") @quorum("2") ${ASKING};`, /add @approval/],
    ["a quorum of nobody", `@id("a") @approval("x") @quorum("0") ${ASKING};`, /@quorum is a number/],
    ["a time in words", `@id("a") @approval("x") @within("15 minutes") ${ASKING};`, /@within is a time/],
    ["no time", `@id("a") @approval("x") @within("PT0S") ${ASKING};`, /@within is a time/],
    [
      "an assurance that is unknown",
      `@id("a") @approval("x") @assurance("sms") ${ASKING};`,
      /@assurance is "webauthn"/,
    ],
    ["a stranger who confirms", `@id("a") @approval("x") @by("anybody") ${ASKING};`, /@by is "principal"/],
    [
      "two principals",
      `@id("a") @approval("x") @by("principal") @quorum("2") ${ASKING};`,
      /the principal is one person/,
    ],
    [
      "what does not parse",
      `@id("a")\npermit(principal, action resource);`,
      /:2: unexpected token `resource`/,
    ],
    [
      "a template",
      `@id("a")\npermit(principal == ?principal, action, resource);`,
      /:1: a template has nobody to link it/,
    ],
    [
      "a tool that is not offered",
      `@id("a") permit(principal, action == Writ::Action::"inventory.set_availble", resource);`,
      /inventory\.set_availble.*inventory\.set_available/,
    ],
    ["an argument that is not there", `@id("a")\n${HEAD}\nwhen { context.input.avail > 1 };`, /:3: .*avail/],
    ["the wrong kind", `@id("a") ${HEAD} when { context.input.available > "1" };`, /Long/],
    [
      "an optional attribute without has",
      `@id("a") ${HEAD} when { context.expectedVersion == "1" };`,
      /expectedVersion.*has expectedVersion/,
    ],
    ["a rule that can never apply", `@id("a") ${HEAD} when { principal is Writ::Service };`, /impossible/],
    ["a letter of another script", `@id("a") ${HEAD} when { principal.subject == "alіce" };`, /script/],
    ["an approval that nobody may give", `@id("a") @approval("x") ${ASKING};`, /nobody may give/],
  ];

  test.each(cases)("%s", (_name, text, says) => {
    const found = mistakes(text);

    expect(found.length).toBeGreaterThan(0);
    expect(found.join("\n")).toMatch(says);
    for (const each of found) expect(each).toMatch(/^policies\/1\.cedar:\d+: ./);
  });
});

test("every mistake of a file is said at once, and a good file has none", () => {
  expect(
    mistakes(`@id("a") ${HEAD} when { context.input.x };\n@id("b") ${HEAD} when { context.input.y };`),
  ).toHaveLength(2);
  expect(mistakes(`@id("a") ${HEAD};`)).toEqual([]);
  expect(mistakes("")).toEqual([]);
  expect(mistakes("// nothing")).toEqual([]);
});

test("an approval says whom it asks, how many, how long, and how sure", () => {
  const said = annotated("forbid", {
    id: "a",
    approval: "stock-manager",
    quorum: "3",
    within: "P1DT2H3M4S",
    reason: "because",
    assurance: "webauthn acr:urn:mfa recent:PT5M",
  });

  expect(said).toEqual({
    id: "a",
    reason: "because",
    requirement: {
      policy: "a",
      role: "stock-manager",
      quorum: 3,
      withinMs: 93_784_000,
      by: "second_person",
      reason: "because",
      assurance: { webauthn: true, acr: "urn:mfa", maxAgeMs: 300_000 },
    },
  });
});

test("C129: a file is read whole or not at all", async () => {
  const lines = `@id("a")\r\n${HEAD}\r\nwhen { context.input.available\r\n  <= 20 };\r\n`;
  const { ask } = cedar(policy(PERMITS.replace(/@id\("people"\).*/, ""), lines));

  expect(mistakes(lines)).toEqual([]);
  expect(await ask(stock(20))).toMatchObject({ effect: "allow" });
  expect(await ask(stock(21))).toMatchObject({ effect: "deny" });
  for (const text of [
    `\ufeff${lines}`,
    `${lines}permit`,
    lines.replace("when", "sometimes"),
    lines.replace("inventory.set", "inventry.set"),
  ])
    expect(mistakes(text)).not.toEqual([]);
  expect(await cedar(policy("")).ask(stock(1))).toMatchObject({ effect: "deny" });
});

test("the rules of docs/policy.md are good rules", () => {
  const page = readFileSync(new URL("../../docs/policy.md", import.meta.url), "utf8");
  const rules = [...page.matchAll(/```cedar\n([\s\S]*?)```/g)].map(([, text]) => text ?? "");

  expect(rules).toHaveLength(2);
  expect(mistakes(rules.join("\n"))).toEqual([]);
});
