import { describe, expect, test } from "vitest";
import { lintContract } from "../../src/core/contract-lint.ts";
import { parseContract } from "../../src/core/contract-parse.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { TRANSPORTS, type Transports } from "../../src/core/transport.ts";
import { SOUND } from "./broken-contracts.ts";

// A transport with answers that have no headers, and with a phase in which nothing can have happened.
const POST: Transports = {
  ...TRANSPORTS,
  post: { ...TRANSPORTS.http, headers: false, phases: { before_dot: "nothing", after_dot: "unknown" } },
};

describe("what a transport does not have, or does not prove", () => {
  const found = (changes: JsonObject) =>
    lintContract(parseContract({ ...SOUND, ...changes, transport: "post" }, POST), POST);

  test("no headers to look into", () => {
    const says = "an answer of transport post has no headers; look into its body";

    expect(
      found({
        read: { request: { method: "GET", url: "{{base}}/x" }, version: { header: "ETag" } },
        outcomes: [{ when: { headers: { Done: "yes" } }, is: "effect", receipt: { id: "header:Id" } }],
      }),
    ).toEqual([
      { rule: "headers-unknown", at: "/outcomes/0/when/headers", says },
      { rule: "headers-unknown", at: "/outcomes/0/receipt/id", says },
      { rule: "headers-unknown", at: "/read/version/header", says },
    ]);
  });

  test("a phase in which nothing can have happened may be a no, and is never a yes", () => {
    const is = (meaning: string) =>
      found({
        outcomes: [
          { when: { phase: "before_dot" }, is: meaning },
          { when: { status: 201 }, is: "effect" },
        ],
      });

    expect(["not_sent", "transient_no", "final_no", "unknown"].flatMap(is)).toEqual([]);
    expect(is("effect")).toEqual([
      {
        rule: "silence-read-as-answer",
        at: "/outcomes/0/is",
        says: 'no answer came, so it cannot mean "effect"; write one of not_sent, transient_no, final_no, or unknown',
      },
    ]);
  });

  test("a phase of which nobody knows", () => {
    const two = { when: { phase: ["before_dot", "after_dot"] }, is: "not_sent" };

    expect(found({ outcomes: [two, { when: { status: 201 }, is: "effect" }] })).toEqual([
      {
        rule: "silence-read-as-answer",
        at: "/outcomes/0/is",
        says: 'an answer that is lost in phase "after_dot" says nothing about the effect; write is: unknown',
      },
    ]);
  });
});
