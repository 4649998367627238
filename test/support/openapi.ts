import { Ajv2020 } from "ajv/dist/2020.js";
import formatsPlugin from "ajv-formats";
import type { Answer } from "./exchange.ts";

interface Described {
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>;
}
export interface OpenApi {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          { readonly operationId: string; readonly responses: Readonly<Record<string, Described>> }
        >
      >
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const add = formatsPlugin as unknown as (ajv: Ajv2020) => Ajv2020; // A CommonJS default export seen from ESM.

/** What the answer has that the OpenAPI document does not say. Paths that it does not know answer as the door does for everybody. */
export function documented(
  openapi: OpenApi,
  method: string,
  path: string,
  answer: Pick<Answer, "status" | "headers" | "text" | "body">,
): readonly string[] {
  const route = routeOf(openapi, path);
  const call =
    route === undefined
      ? undefined
      : openapi.paths[route]?.[(method === "HEAD" ? "GET" : method).toLowerCase()];
  const said = `${method} ${path} ${answer.status}`;
  // What the door answers whatever is asked: also on paths and for methods that nobody documents.
  if (call === undefined || answer.status === 405) {
    return [204, 400, 403, 404, 405, 421].includes(answer.status)
      ? []
      : [`${said}: no such route is documented`];
  }
  const response = call.responses[answer.status];
  if (response === undefined)
    return [`${said}: this status is not documented (${answer.text.slice(0, 300)})`];
  if (answer.text === "" || method === "HEAD") return [];
  const type = answer.headers["content-type"]?.split(";")[0] ?? "";
  const described = response.content?.[type];
  if (described === undefined) return [`${said}: the type ${type} is not documented`];
  if (!type.endsWith("json") || described.schema === undefined) return [];
  const ajv = add(new Ajv2020({ strict: false, allErrors: true }));
  const check = ajv.compile({ ...described.schema, components: openapi.components });
  return check(answer.body)
    ? []
    : (check.errors ?? []).map(
        (error) => `${said}: ${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`,
      );
}

/** The documented path that this one is an example of. */
function routeOf(openapi: OpenApi, path: string): string | undefined {
  const plain = path.split("?")[0] ?? path;
  return Object.keys(openapi.paths).find((each) =>
    new RegExp(`^${each.replaceAll(/\{[a-z]+\}/g, "[^/]+")}$`).test(plain),
  );
}
