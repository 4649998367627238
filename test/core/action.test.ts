import { createHash, createHmac } from "node:crypto";
import canonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Binding, digestHolds, freezeAction, resourceOf, thawAction } from "../../src/core/action.ts";
import { operationIdOf, tenantId } from "../../src/core/ids.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { type ProposalClaims, proposal } from "../../src/core/proposal.ts";
import type { Session } from "../../src/core/session.ts";
import type { Tool } from "../../src/core/tool.ts";
import { freshDatabase } from "../support/database.ts";
import { STOCK_TOOL } from "../support/rig.ts";
import { command } from "../support/template.ts";
import { SECOND_IMPLEMENTATION } from "./second-implementation.ts";

const SESSION: Session = {
  tenantId: tenantId("acme"),
  principalId: "https://issuer.example#ada",
  clientId: "agent-1",
  roles: ["agent"],
  delegation: [
    { id: "d1", by: "principal", delegator: "https://issuer.example#dee", holder: "agent-1", usesMax: 9 },
  ],
};
const BINDING: Binding = {
  operationId: operationIdOf("01890a5d-ac96-774b-bcce-b302099a8057"),
  salt: "c2FsdHNhbHRzYWx0c2FsdA",
  toolDigest: "sha-256:tool",
  settingsDigest: "sha-256:settings",
  tenantKey: Buffer.alloc(32, 1),
};
const ARGS = { warehouse: "wh_1", item: "item_1", available: 18 };
const LOOSE: Tool = { ...STOCK_TOOL, resource: { type: "Item", id: "{item}", parents: [] } };

const freeze = (
  claims: Partial<ProposalClaims> = {},
  binding: Partial<Binding> = {},
  session: Partial<Session> = {},
  tool = STOCK_TOOL,
) =>
  freezeAction(
    tool,
    proposal({ tool: tool.name, arguments: ARGS, expectedVersion: 42, ...claims }, undefined),
    { ...SESSION, ...session },
    { ...BINDING, ...binding },
  );

describe("the digest of an action", () => {
  test("C077, C079: is SHA-256 over a domain, a zero byte, and the canonical form of one object with named members", () => {
    const { action, bytes, digest } = freeze();

    expect(JSON.parse(bytes)).toEqual({
      v: 1,
      operationId: "op_01890a5dac96774bbcceb302099a8057",
      tenantId: "acme",
      principalId: "https://issuer.example#ada",
      clientId: "agent-1",
      delegation: [{ id: "d1", by: "principal", delegator: "https://issuer.example#dee", holder: "agent-1" }],
      tool: "inventory.set_available",
      toolDigest: "sha-256:tool",
      provider: { name: "stock", settingsDigest: "sha-256:settings" },
      resource: { type: "Item", id: "wh_1/item_1", parents: [{ type: "Warehouse", id: "wh_1" }] },
      arguments: ARGS,
      expectedVersion: "42",
      salt: "c2FsdHNhbHRzYWx0c2FsdA",
    });
    expect(bytes).toBe(canonicalize(action));
    const hash = createHash("sha256")
      .update(`writ.action.v1\0${canonicalize(action)}`)
      .digest("base64url");
    expect(digest).toBe(`sha-256:${hash}`);
    // The vector of docs and of other implementations: it never changes.
    expect(digest).toBe("sha-256:yrW7ebGz08fTAM6xwoKd6uhUVHugux7A-HKqD4BBqss");
  });

  test("C078: is what a second implementation, in SQL, computes from the same value, for 300 random actions", async () => {
    const database = await freshDatabase();
    // PostgreSQL's text has no U+0000.
    const text = fc.string({ unit: "binary", maxLength: 12 }).map((value) => value.replaceAll("\0", ""));
    const value = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        text,
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(text, tie("value"), { maxKeys: 5 }),
      ),
    })).value;
    const fixed = [
      1e-7,
      10.0,
      1e21,
      5e-324,
      1e20,
      123456789012345680000,
      0.1,
      1e-6,
      100,
      4.5e-10,
      1.5e300,
      71467520003164260,
      Number.MAX_VALUE,
      -Number.MAX_VALUE,
      Number.MIN_VALUE,
    ];
    const keys = { "\u{10000}": 1, "\ue000": 2, "\u2028": "\u2028", "": 0, "\u007f": "\u001f" };
    const samples = [
      ...fixed.map((x) => ({ x })),
      keys,
      ...fc.sample(fc.dictionary(text, value, { maxKeys: 5 }), 290),
    ];
    const frozen = samples.map((args) => freeze({ arguments: { item: "a", args } }, {}, {}, LOOSE));

    const theirs = await command(database.url, async (client) => {
      await client.query(SECOND_IMPLEMENTATION);
      const { rows } = await client.query<{ digest: string; text: string }>(
        "select action_digest(value) as digest, jcs(value) as text from jsonb_array_elements($1::jsonb) value",
        [JSON.stringify(frozen.map(({ action }) => action))],
      );
      return rows;
    });

    expect(theirs.map(({ text }) => text)).toEqual(frozen.map(({ bytes }) => bytes));
    expect(theirs.map(({ digest }) => digest)).toEqual(frozen.map(({ digest }) => digest));
  });

  test("C075, C077: is the same for the same content in another order and with other words beside it", () => {
    const { available, item, warehouse } = ARGS;
    const same = freeze({ arguments: { available, item, warehouse }, note: "other words", execute: "later" });

    expect(same.digest).toBe(freeze().digest);
  });

  test("C074, C076, C079, C080: differs for everything that is not the same", () => {
    const args: readonly JsonObject[] = [
      { item: "a" },
      { item: "a", note: null },
      { item: "a", note: "" },
      { item: "a", note: "K\u00f6ln" },
      { item: "a", note: "Ko\u0308ln" },
      { item: "a", note: [1, 2] },
      { item: "a", note: [2, 1] },
      { item: "a", note: "1" },
      { item: "a", note: 1 },
      { item: "a", note: "9007199254740992" },
      { item: "a", note: "9007199254740993" },
      { item: "ab", x: "c" },
      { item: "a", x: "bc" },
    ];
    const digests = [
      ...args.map((each) => freeze({ arguments: each }, {}, {}, LOOSE)),
      freeze({ expectedVersion: 43 }),
      freeze({ compensates: `op_${"1".repeat(32)}` }),
      freeze({}, { operationId: operationIdOf("0".repeat(32)) }),
      freeze({}, { salt: "another" }),
      freeze({}, { toolDigest: "sha-256:other" }),
      freeze({}, { settingsDigest: "sha-256:other" }),
      freeze({}, {}, { tenantId: tenantId("globex") }),
      freeze({}, {}, { principalId: "https://issuer.example#bob" }),
      freeze({}, {}, { clientId: "agent-2" }),
      freeze({}, {}, { delegation: [] }),
      freeze(),
    ].map((each) => each.digest);

    expect(new Set(digests).size).toBe(digests.length);
  });

  test("holds for the stored bytes and for no others", () => {
    const { bytes, digest, action } = freeze();

    expect(digestHolds(bytes, digest)).toBe(true);
    expect(thawAction(bytes)).toEqual(action);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, char) => {
        fc.pre(bytes[at] !== char);
        expect(digestHolds(bytes.slice(0, at) + char + bytes.slice(at + 1), digest)).toBe(false);
      }),
    );
  });

  test("C035: is of a value that nobody can change afterwards", () => {
    const claims = { item: "a", list: [{ deep: 1 }] };
    const { action, bytes } = freeze({ arguments: claims }, {}, {}, LOOSE);

    const deep = (action.arguments.list as { deep: number }[])[0];
    expect(() => Object.assign(deep as object, { deep: 2 })).toThrow(TypeError);
    expect(() => Object.assign(action, { tool: "other" })).toThrow(TypeError);
    expect(() => Object.assign(thawAction(bytes).arguments, { item: "b" })).toThrow(TypeError);
  });
});

describe("the digests beside it", () => {
  test("the content's is the same under another operation, and differs with the version or what it compensates", () => {
    const other = freeze({}, { operationId: operationIdOf("0".repeat(32)), salt: "another" });

    expect(other.contentDigest).toBe(freeze().contentDigest);
    const others = [{ expectedVersion: 43 }, { compensates: `op_${"1".repeat(32)}` }];
    for (const claims of others) expect(freeze(claims).contentDigest).not.toBe(freeze().contentDigest);
  });

  test("the effect's sees tool, resource and arguments only, and is nothing to who does not hold the tenant's key", () => {
    const { effectDigest } = freeze();
    const effect = canonicalize({
      tool: STOCK_TOOL.name,
      resource: { type: "Item", id: "wh_1/item_1" },
      arguments: ARGS,
    });
    const mac = createHmac("sha256", BINDING.tenantKey)
      .update(`writ.effect.v1\0${effect}`)
      .digest("base64url");

    expect(effectDigest).toBe(`hmac-256:${mac}`);
    expect(freeze({ expectedVersion: 43 }, { salt: "another" }).effectDigest).toBe(effectDigest);
    expect(freeze({}, { tenantKey: Buffer.alloc(32, 2) }).effectDigest).not.toBe(effectDigest);
    expect(freeze({ arguments: { ...ARGS, available: 19 } }).effectDigest).not.toBe(effectDigest);
  });
});

describe("the resource that arguments name", () => {
  const rule = { type: "Item", id: "{w}/{item}", parents: [{ type: "Warehouse", id: "{w}" }] };

  test("is built from segments that can be read in one way only", () => {
    expect(resourceOf(rule, { w: "wh_1", item: 7 })).toEqual({
      type: "Item",
      id: "wh_1/7",
      parents: [{ type: "Warehouse", id: "wh_1" }],
    });
    for (const item of ["a", "A.b", "_x", "a:b", "user@host", "a~b-c", "x".repeat(128)])
      expect(resourceOf(rule, { w: "w", item }).id).toBe(`w/${item}`);
  });

  test.each<[string, Json | undefined]>([
    ["nothing", undefined],
    ["null", null],
    ["an empty text", ""],
    ["a dot", "."],
    ["two dots", ".."],
    ["a leading dot", ".git"],
    ["a slash", "a/b"],
    ["a backslash", "a\\b"],
    ["an encoded slash", "a%2fb"],
    ["an encoded dot", "%2e%2e"],
    ["a space", "a b"],
    ["a line end", "a\n"],
    ["a zero character", "a\u0000"],
    ["a question mark", "a?b"],
    ["a fragment", "a#b"],
    ["a semicolon", "a;b"],
    ["a look-alike letter", "\u0430"],
    ["C080: an umlaut, precomposed", "K\u00f6ln"],
    ["C080: an umlaut, decomposed", "Ko\u0308ln"],
    ["a full-width slash", "a\uff0fb"],
    ["a text that reads backwards", "a\u202eb"],
    ["129 characters", "x".repeat(129)],
    ["a fraction", 1.5],
    ["a negative number", -1],
    ["a list", ["a"]],
    ["an object", { a: 1 }],
    ["true", true],
  ])("refuses %s and says which argument it was", (_what, item) => {
    const args = (item === undefined ? { w: "w" } : { w: "w", item }) as JsonObject;

    expect(() => resourceOf(rule, args)).toThrow(
      expect.objectContaining({ code: "invalid", details: { at: "/arguments/item" } }),
    );
  });
});
