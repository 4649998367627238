import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import formatsPlugin from "ajv-formats";
import type { FastifySchema, FastifySchemaCompiler } from "fastify";
import type { FastifySchemaValidationError } from "fastify/types/schema.js";
import { Problem } from "../core/problem.ts";

const add = formatsPlugin as unknown as (ajv: Ajv2020) => Ajv2020; // A CommonJS default export seen from ESM.

/** Checks what was sent and changes nothing of it: no coercion, no removal, no defaults. */
export function validatorCompiler(): FastifySchemaCompiler<FastifySchema> {
  const ajv = add(
    new Ajv2020({
      coerceTypes: false,
      removeAdditional: false,
      useDefaults: false,
      allErrors: false,
      strict: true,
      allowUnionTypes: true,
    }),
  );
  return ({ schema }) => ajv.compile(schema);
}

const PLACES: Readonly<Record<string, string>> = {
  body: "the body",
  querystring: "the query",
  params: "the path",
  headers: "the headers",
};

/** The first thing that is wrong, with its place. Nothing of what was sent is repeated but names. */
export function invalidRequest(errors: readonly FastifySchemaValidationError[], where: string): Problem {
  const [error] = errors;
  if (error === undefined) return new Problem("invalid_request", `${PLACES[where] ?? where} is not valid`);
  const at = placeOf(error, where);
  const place = at === "" ? (PLACES[where] ?? where) : at;
  // Every parameter is a text, so one that is not was given more than once.
  const twice = where === "querystring" && error.keyword === "type";
  return new Problem("invalid_request", `${place} ${twice ? "was given more than once" : says(error)}`, {
    at,
  });
}

function placeOf({ keyword, instancePath, params }: FastifySchemaValidationError, where: string): string {
  const extra = keyword === "additionalProperties" ? `/${String(params.additionalProperty)}` : "";
  const missing = keyword === "required" ? `/${String(params.missingProperty)}` : "";
  const pointer = `${instancePath}${extra}${missing}`;
  return where === "querystring" ? pointer.slice(1) : pointer;
}

function says({ keyword, message, params }: Pick<ErrorObject, "keyword" | "message" | "params">): string {
  switch (keyword) {
    case "additionalProperties":
      return "is not known here";
    case "required":
      return "is missing";
    case "enum":
      return `must be one of ${(params.allowedValues as readonly string[]).join(", ")}`; // Ajv's own params for "enum".
    default:
      return message ?? "is not valid";
  }
}
