import type { Reporter, TestModule } from "vitest/node";

type Count = { readonly passed: number; readonly failed: number; readonly skipped: number };

/** The run's last line, made for a machine to read: `N passed, N failed`, and `, N skipped` when there are any. */
export function closingLine(): Reporter {
  return {
    onTestRunEnd(modules, errors) {
      const count = counted(modules, errors.length);
      if (process.env.WRIT_CI === "1" && count.skipped > 0) {
        process.stderr.write(
          "WRIT_CI=1: a skipped test fails the run, because CI has all that tests need.\n",
        );
        process.exitCode = 1;
      }
      process.stdout.write(`\n${inWords(count)}\n`);
    },
  };
}

export function inWords({ passed, failed, skipped }: Count): string {
  const line = `${passed} passed, ${failed} failed`;
  return skipped === 0 ? line : `${line}, ${skipped} skipped`;
}

/** A file that could not be read to the end and an error outside every test are failures, not silences. */
export function counted(modules: readonly TestModule[], strayErrors: number): Count {
  const count = { passed: 0, failed: strayErrors, skipped: 0 };
  for (const module of modules) {
    if (module.errors().length > 0) count.failed += 1;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      // Pending: the run was stopped before this test had an answer.
      if (state === "pending") count.failed += 1;
      else count[state] += 1;
    }
  }
  return count;
}
