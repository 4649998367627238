import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PROBLEMS, Problem, type ProblemCode, problemTitle, problemType } from "../../src/core/problem.ts";
import { REASONS } from "../../src/wire.ts";

const PAGE = readFileSync("docs/problems.md", "utf8");
const SECTIONS = [...PAGE.matchAll(/^## (\S+)\n\nStatus (\d{3})\. \S[\s\S]*?\n\n\*\*What to do\.\*\* \S/gm)];
const CODES = Object.keys(PROBLEMS) as ProblemCode[]; // The keys of a constant table are its codes.

test("every code has its section in docs/problems.md, with its status and what to do, and no other has", () => {
  expect(SECTIONS.map(([, code, status]) => [code, Number(status)])).toEqual(Object.entries(PROBLEMS));
  expect(PAGE.match(/^## /gm)).toHaveLength(CODES.length);
});

test("every reason for a rejection is a code", () => {
  expect(REASONS.filter((reason) => !(reason in PROBLEMS))).toEqual([]);
});

test("a code has one type, one title and one status", () => {
  expect(new Problem("looks_the_same", "said").status).toBe(409);
  expect(problemType("looks_the_same")).toBe("https://writ.dev/problems/looks_the_same");
  expect(problemTitle("idempotency-key-missing")).toBe("Idempotency key missing");
  expect(new Set(CODES.map(problemType)).size).toBe(CODES.length);
});
