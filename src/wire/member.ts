import { type TSchema, Type } from "typebox";
import type { Json, JsonObject } from "../core/json.ts";

/** What is not named is refused. */
export const strict = { additionalProperties: false } as const;

/** A text that is not empty. */
export const text = (description: string, max = 200) =>
  Type.String({ minLength: 1, maxLength: max, description });
/** An RFC 3339 text. */
export const time = (description: string) => Type.String({ format: "date-time", description });
/** One of a closed list of words. */
export const words = <const Words extends string[]>(values: Words, description: string) =>
  Type.Unsafe<Words[number]>({ type: "string", enum: values, description });
export const maybe = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema);
export const anyJson = (description: string) => Type.Unsafe<Json>({ description });
export const anyObject = (description: string) => Type.Unsafe<JsonObject>({ type: "object", description });
