import { afterEach, expect, test, vi } from "vitest";
import type { TestModule } from "vitest/node";
import { counted, inWords } from "./closing-line.ts";
import { needs } from "./needs.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

type State = "passed" | "failed" | "skipped" | "pending";

/** As much of a vitest module as the counting looks at. */
function moduleOf(states: readonly State[], errors: readonly Error[] = []): TestModule {
  const children = { allTests: () => states.map((state) => ({ result: () => ({ state }) })) };
  return { errors: () => errors, children } as unknown as TestModule;
}

test("the closing line names skipped tests only when there are any", () => {
  expect(inWords({ passed: 3, failed: 0, skipped: 0 })).toBe("3 passed, 0 failed");
  expect(inWords({ passed: 3, failed: 1, skipped: 2 })).toBe("3 passed, 1 failed, 2 skipped");
});

test("a file that does not load, a test without an answer and a stray error are failures", () => {
  const modules = [moduleOf(["passed", "skipped", "pending"]), moduleOf([], [new Error("does not load")])];

  expect(counted(modules, 1)).toEqual({ passed: 1, failed: 3, skipped: 1 });
});

test("where the need is met, the test is vitest's own", () => {
  vi.stubEnv("WRIT_TEST_DATABASE_URL", "postgres://127.0.0.1/");

  expect(needs("server")).toBe(test);
});

test("in CI a need that is not met is an error, not a skipped test", () => {
  vi.stubEnv("WRIT_TEST_DATABASE_URL", "");
  vi.stubEnv("WRIT_CI", "1");

  expect(() => needs("server")).toThrow("this file needs a server");
});
