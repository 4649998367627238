import { existsSync, rmSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Checkout } from "./checkout.ts";

let checkout: Checkout;

beforeEach(() => {
  checkout = new Checkout("none");
});

afterEach(() => {
  checkout.remove();
});

test("an install in production, without dev packages and without scripts, still has what it builds with", async () => {
  const env = { NODE_ENV: "production", npm_config_omit: "dev", npm_config_ignore_scripts: "true" };

  const { status, stdout, stderr } = await checkout.run("writ.mjs", ["dev"], env);

  expect(stderr).toMatch(/^writ: installing packages \.\.\. [\d.]+ s\nwrit: building \.\.\. [\d.]+ s\n$/);
  expect({ status, stdout }).toEqual({ status: 0, stdout: "writ dev\n" });
});

test("packages that npm installed by hand are taken as they are, until one is missing", async () => {
  await checkout.run("bootstrap.mjs");
  rmSync(checkout.at("node_modules/.writ-stamp"));

  expect(await checkout.run("bootstrap.mjs")).toMatchObject({ status: 0, stderr: "" });

  rmSync(checkout.at("node_modules/.package-lock.json"));
  const again = await checkout.run("bootstrap.mjs");

  expect(again.stderr).toContain("installing packages");
  expect(existsSync(checkout.at("node_modules/typescript"))).toBe(true);
});
