import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Checkout } from "./checkout.ts";

const BUILT = /^writ: building \.\.\. \d+\.\d s\n$/;

let checkout: Checkout;

beforeEach(() => {
  checkout = new Checkout("borrowed");
});

afterEach(() => {
  checkout.remove();
});

test("the command builds what is missing, and is silent the second time", async () => {
  const first = await checkout.run("writ.mjs", ["dev", "--rebuild"]);
  const second = await checkout.run("writ.mjs", ["dev"]);

  expect(first).toEqual({ status: 0, stdout: "writ dev --rebuild\n", stderr: expect.stringMatching(BUILT) });
  expect(second).toEqual({ status: 0, stdout: "writ dev\n", stderr: "" });
});

test("a source that changed is built again", async () => {
  await checkout.run("bootstrap.mjs");
  checkout.write("src/cli/main.ts", 'console.log("changed");\n');

  expect(await checkout.run("writ.mjs")).toMatchObject({
    stdout: "changed\n",
    stderr: expect.stringMatching(BUILT),
  });
});

test("a source that does not compile leaves dist as it was, and the compiler is heard", async () => {
  await checkout.run("bootstrap.mjs");
  const before = readFileSync(checkout.at("dist/cli/main.js"), "utf8");
  checkout.write("src/cli/main.ts", 'export const text: string = 1;\nconsole.log("broken");\n');

  const { status, stderr } = await checkout.run("writ.mjs");

  expect(status).toBe(1);
  expect(stderr).toContain("src/cli/main.ts(1,14): error TS2322");
  expect(stderr).toContain("building did not succeed: correct the sources");
  expect(readFileSync(checkout.at("dist/cli/main.js"), "utf8")).toBe(before);
});

test("of two starts at once one builds, the other waits for it, and nothing is left behind", async () => {
  const both = await Promise.all([checkout.run("bootstrap.mjs"), checkout.run("bootstrap.mjs")]);

  const builds = both.filter(({ stderr }) => stderr.includes("building"));
  expect(both.map(({ status }) => status)).toEqual([0, 0]);
  expect(builds).toHaveLength(1);
  expect(readdirSync(checkout.at(".writ"))).toEqual([]);
  expect(readdirSync(checkout.root).filter((name) => name.startsWith("dist."))).toEqual([]);
});

test("the lock of a dead process is taken over, and its half-made dist swept away", async () => {
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  checkout.write(".writ/bootstrap.lock", JSON.stringify({ pid, host: hostname() }));
  checkout.write("dist.next-1/half.js", "");

  expect(await checkout.run("bootstrap.mjs")).toMatchObject({
    status: 0,
    stderr: expect.stringMatching(BUILT),
  });
  expect(existsSync(checkout.at("dist.next-1"))).toBe(false);
});

test("--rebuild builds although nothing changed", async () => {
  await checkout.run("bootstrap.mjs");

  expect(await checkout.run("bootstrap.mjs", ["--rebuild"])).toMatchObject({
    stderr: expect.stringMatching(BUILT),
  });
});
