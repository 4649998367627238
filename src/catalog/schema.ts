import { Ajv, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formatsPlugin from "ajv-formats";
import { RE2JS } from "re2js";
import type { JsonObject } from "../core/json.ts";
import { Problem } from "../core/problem.ts";

/** A pattern that runs in time linear in its input, whoever wrote it. Ajv names it by `toString`, so that must be the source. */
const linearPattern = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => `/${pattern}/u` };
  },
  { code: "linearPattern" },
);

const OPTIONS: Options = {
  // Validation never edits: what was sent is what is judged, digested and executed.
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  allErrors: false,
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  code: { regExp: linearPattern as unknown as NonNullable<Options["code"]>["regExp"] & object }, // Ajv wants a RegExp engine; only `test` and `toString` are used.
};

const add = formatsPlugin as unknown as (ajv: Ajv) => Ajv; // A CommonJS default export seen from ESM.

/** Compiles a JSON Schema (2020-12, or draft-07 when it says so) into a check that throws `invalid` naming the place. */
export function schemaValidator(schema: JsonObject): (value: JsonObject) => void {
  const draft07 = typeof schema.$schema === "string" && schema.$schema.includes("draft-07");
  const ajv = draft07 ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
  const { $schema: _dialect, ...rest } = schema;
  const check: ValidateFunction = add(ajv).compile(rest);
  return (value) => {
    if (check(value)) return;
    const error = check.errors?.[0];
    if (error !== undefined) throw invalid(error);
  };
}

function invalid(error: ErrorObject): Problem {
  const extra = error.keyword === "additionalProperties" ? `/${String(error.params.additionalProperty)}` : "";
  const missing = error.keyword === "required" ? `/${String(error.params.missingProperty)}` : "";
  const at = `/arguments${error.instancePath}${extra}${missing}`;
  return new Problem("invalid", `${at} ${error.message ?? "is not valid"}`, { at });
}
