import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { EXIT } from "../../src/cli/exit.ts";
import { writ } from "./command.ts";

const empty = mkdtempSync(join(tmpdir(), "writ-usage-"));
const here = { cwd: empty };
const elsewhere = { cwd: empty, env: { WRIT_URL: "http://127.0.0.1:9", WRIT_TOKEN: "a.b.c" } };

afterAll(() => rmSync(empty, { recursive: true, force: true }));

test("help goes to stdout, fits a small terminal, and ends well", async () => {
  for (const args of [[], ["--help"], ["op", "--help"], ["propose", "-h"]]) {
    const { status, stdout, stderr } = await writ(args, here);

    expect([args, status, stderr]).toEqual([args, EXIT.ok, ""]);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(90);
    expect(stdout).not.toContain("\u001b");
  }
});

test.each([
  [["propos"], "Did you mean propose?"],
  [["op", "lss"], "Did you mean ls?"],
  [["propose", "a.b", "--exepct", "1"], "Did you mean --expect?"],
  [["propose"], "missing required argument 'tool'"],
  [["-o", "xml", "op", "ls"], "-o xml"],
  [["propose", "a.b", "--arg", "x"], "--arg x"],
  [["propose", "a.b", "--args", "[1]"], "--args"],
  [["propose", "a.b", "--args", "@nowhere.json"], "--args @nowhere.json"],
  [["propose", "a.b", "--wait", "31"], "--wait"],
  [["halt", "--reason", "why"], "--everything"],
  [["halt", "--tool", "a.b"], "--reason"],
  [["halt", "--tool", "a", "--client", "b", "--reason", "why"], "one of"],
  [["resolve", "op_1"], "--confirmed or --absent"],
  [["resolve", "op_1", "--confirmed", "--absent"], "--confirmed or --absent"],
  [["resolve", "op_1", "--confirmed", "--note", "seen"], "--reference"],
  [["resolve", "op_1", "--absent", "--reference", "a list"], "--note"],
  [["demo", "--scene", "99"], "--scene 99"],
  [["contract", "lint", "nowhere"], '"nowhere"'],
])("writ %j is a mistake of usage that names what to mend", async (args, named) => {
  const { status, stdout, stderr } = await writ(args, elsewhere);

  expect(stderr).toContain(named);
  expect([status, stdout]).toEqual([EXIT.usage, ""]);
});

test("without a Writ to talk to, it says which variable to set", async () => {
  const { status, stderr } = await writ(["op", "ls"], here);

  expect(status).toBe(EXIT.usage);
  expect(stderr).toContain("WRIT_URL");
});

test("without a token it is a matter of authentication", async () => {
  const { status, stderr } = await writ(["op", "ls"], { ...here, env: { WRIT_URL: "http://127.0.0.1:9" } });

  expect(status).toBe(EXIT.unauthenticated);
  expect(stderr).toContain("WRIT_TOKEN");
});

test("a proposal that nobody answers is an unknown outcome, and its key is told", async () => {
  const { status, stdout, stderr } = await writ(["propose", "a.b", "-k", "my-key"], elsewhere);

  expect([status, stdout]).toEqual([EXIT.unknown, ""]);
  expect(stderr).toContain("--key my-key");
});

test("a contract's mistakes have their line, and -o json has them as data", async () => {
  const file = join(empty, "bad.yaml");
  writeFileSync(
    file,
    'contract: shop.change/v1\ntransport: http\nlease: 1s\nrequest: { method: PUT, url: "{{base}}/x" }\n',
  );

  const people = await writ(["contract", "lint", file], here);
  const machine = await writ(["contract", "lint", file, "presets/http/no-guarantees", "-o", "json"], here);

  expect(people.status).toBe(EXIT.error);
  expect(people.stdout).toContain(`${file}:3:`);
  expect(machine.status).toBe(EXIT.error);
  const results = JSON.parse(machine.stdout) as readonly {
    readonly complaints: readonly { readonly rule: string }[];
  }[];
  expect(results.map(({ complaints }) => complaints.length > 0)).toEqual([true, false]);
  expect(results[0]?.complaints.map(({ rule }) => rule)).toContain("lease-too-short");
});

test("without a name every preset is linted and explained", async () => {
  const linted = await writ(["contract", "lint", "-o", "json"], here);
  const explained = await writ(["contract", "explain", "-o", "json"], here);

  const results = JSON.parse(linted.stdout) as readonly {
    readonly file: string;
    readonly complaints: object[];
  }[];
  const told = JSON.parse(explained.stdout) as readonly {
    readonly contract: string;
    readonly promise: string[];
  }[];
  expect(linted.status).toBe(EXIT.ok);
  expect(results.length).toBeGreaterThan(12);
  expect(results.flatMap(({ complaints }) => complaints)).toEqual([]);
  expect(told.map(({ contract }) => contract)).toContain("http/etcd/v1");
  expect(told).toHaveLength(results.length);
});

test("explaining a contract says what cannot be promised", async () => {
  const { status, stdout } = await writ(["contract", "explain", "presets/http/no-guarantees"], here);

  expect(status).toBe(EXIT.ok);
  expect(stdout).toContain("a person");
});
