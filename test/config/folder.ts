import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { type Configuration, loadConfiguration } from "../../src/config.ts";
import { Problem } from "../../src/core/problem.ts";

/** A configuration folder that ends with the test. */
export function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "writ-config-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

export function load(
  files: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = {},
): Configuration {
  return loadConfiguration(folderOf(files), environment);
}

/** The one sentence with which a configuration is refused. */
export function mistakeIn(
  files: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = {},
): string {
  try {
    load(files, environment);
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
  throw new Error("the configuration was taken");
}

export const WRIT = `roles:
  agent: ["inventory.*"]
providers:
  stock: { kind: postgres }
`;

export const STOCK = `tool: inventory.set_available
title: Set the available stock of an item
provider: stock
input:
  type: object
  additionalProperties: false
  required: [warehouse, item, available]
  properties:
    warehouse: { type: string }
    item: { type: string }
    available: { type: integer, minimum: 0 }
resource: { type: Item, id: "{warehouse}/{item}" }
sql:
  perform: update inventory set available = :available
contract: presets/postgres-ledger
`;
