import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Contract } from "../core/contract.ts";
import { lintContract } from "../core/contract-lint.ts";
import { parseContract } from "../core/contract-parse.ts";
import type { JsonObject } from "../core/json.ts";
import type { Transports } from "../core/transport.ts";
import { objectOf, refuse, textOf, type Written } from "../core/written.ts";
import { mistake, placed, readYaml, type YamlFile } from "./yaml-file.ts";

/** The ready contracts of the package, beside `src` and `dist`. */
const PRESETS = fileURLToPath(new URL("../../presets/", import.meta.url));
const PATH = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$/;

/**
 * What `contract:` in a tool's file means: a path, `from` a path with members that take the place of the file's, or a whole contract.
 * A mistake is named where it was written: in the tool's file, or in the contract's.
 */
export function contractOf(
  written: Written,
  tool: YamlFile,
  { folder, transports }: { readonly folder: string; readonly transports: Transports },
): Contract {
  const asked = typeof written.value === "string" ? { from: written.value } : objectOf(written);
  const { from, ...own } = asked;
  const source =
    from === undefined
      ? undefined
      : sourceOf(
          { value: from, at: typeof written.value === "string" ? written.at : `${written.at}/from` },
          folder,
        );
  const document: JsonObject = { ...(source === undefined ? {} : objectOf(source.written)), ...own };
  // A pointer into the contract leads into the file in which that member was written.
  const placeOf = (pointer: string): string => {
    const member = pointer.split("/")[1];
    const elsewhere = source !== undefined && (member === undefined || !Object.hasOwn(own, member));
    return elsewhere ? source.placeOf(pointer) : tool.placeOf(`${written.at}${pointer}`);
  };
  const file: YamlFile = { name: source?.name ?? tool.name, written: { value: document, at: "" }, placeOf };
  const contract = placed(file, () => parseContract(document, transports));
  const [finding] = lintContract(contract, transports);
  if (finding !== undefined) throw mistake(placeOf(finding.at), `${finding.says} (${finding.rule})`);
  return contract;
}

function sourceOf(written: Written, folder: string): YamlFile {
  const path = textOf(written);
  if (!PATH.test(path)) refuse(written, "write presets/NAME, or a path inside this folder");
  const name = /\.ya?ml$/.test(path) ? path : `${path}.yaml`;
  const own = join(folder, name);
  if (existsSync(own)) return readYaml(own, name);
  const preset = name.startsWith("presets/") ? join(PRESETS, name.slice("presets/".length)) : undefined;
  if (preset !== undefined && existsSync(preset)) return readYaml(preset, name);
  return refuse(
    written,
    `there is no ${name}, neither in this folder${preset === undefined ? "" : " nor among the presets of Writ"}`,
  );
}
