import fc from "fast-check";
import { expect, test } from "vitest";
import { operationId, operationIdOf, tenantId, uuidOf } from "../../src/core/ids.ts";
import { processEntropy, uuid7 } from "../../src/host/entropy.ts";

test("C081: a tenant is named in small ASCII letters, digits, minus and underscore, and in nothing that looks like them", () => {
  for (const name of ["acme", "a", "0", "a-b_c", "a".repeat(63)]) expect(tenantId(name)).toBe(name);
  for (const name of [
    "",
    "Acme",
    "-a",
    "_a",
    "a b",
    "a.b",
    "a/b",
    "acm\u0435",
    "zo\u00eb",
    "a\n",
    "a".repeat(64),
  ])
    expect(() => tenantId(name)).toThrow(expect.objectContaining({ code: "invalid_request" }));
});

test("an operation's id is its UUID, there and back", () => {
  fc.assert(
    fc.property(fc.uuid(), (uuid) => {
      const id = operationIdOf(uuid);
      expect(operationId(id)).toBe(id);
      expect(uuidOf(id)).toBe(uuid.replaceAll("-", ""));
    }),
  );
});

test("what is no operation's id names nothing: it is told apart from an absent one by nobody", () => {
  const ids = ["", "op_", `op_${"0".repeat(31)}`, `op_${"0".repeat(33)}`, `op_${"A".repeat(32)}`];
  for (const id of [...ids, `op_${"0".repeat(32)}\n`, ` op_${"0".repeat(32)}`])
    expect(() => operationId(id)).toThrow(
      expect.objectContaining({ code: "not_found", message: "no such operation" }),
    );
});

test("a UUIDv7 holds its moment, its version and its variant, and sorts by its moment (RFC 9562 5.7)", () => {
  fc.assert(
    fc.property(fc.nat(2 ** 31), fc.uint8Array({ minLength: 10, maxLength: 10 }), (seconds, random) => {
      const ms = seconds * 1_000;
      const uuid = uuid7(ms, random);
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(Number.parseInt(uuid.replaceAll("-", "").slice(0, 12), 16)).toBe(ms);
      expect(uuid < uuid7(ms + 1, random)).toBe(true);
    }),
  );
});

test("no two of a hundred thousand ids are one, and a salt has 128 bits", () => {
  const ids = new Set(Array.from({ length: 100_000 }, () => processEntropy.uuid7()));

  expect(ids.size).toBe(100_000);
  expect(Buffer.from(processEntropy.salt(), "base64url")).toHaveLength(16);
});
