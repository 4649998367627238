import type { FastifyRequest } from "fastify";
import { JSON_BOUNDS, type Json, parseJson } from "../core/json.ts";
import { Problem } from "../core/problem.ts";
import type { App } from "./door.ts";

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?$/i;

/** One way in for bytes: JSON in UTF-8, read once and strictly. Everything else is refused before it is read. */
export function readBodies(app: App, bodyMax: number): void {
  app.removeAllContentTypeParsers();
  app.addHook("onRequest", async (request) => refuseEncoding(request));
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => {
    try {
      // parseAs gives a Buffer; its type leaves the text open.
      done(null, parsed(body as Buffer, bodyMax));
    } catch (error) {
      // parseJson throws Problems; anything else becomes an internal error where all of them do.
      done(error as Error);
    }
  });
}

/** No bytes at all are no body: many clients name a type and send nothing. */
function parsed(bytes: Buffer, bodyMax: number): Json | undefined {
  return bytes.length === 0 ? undefined : parseJson(bytes, { ...JSON_BOUNDS, bytesMax: bodyMax });
}

function refuseEncoding({ headers, method }: FastifyRequest): void {
  if (method === "GET" || method === "HEAD") return;
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new Problem("unsupported_media_type", "compressed bodies are not taken", {
      at: "Content-Encoding",
    });
  }
  const type = headers["content-type"];
  if (type !== undefined && !JSON_TYPE.test(type)) throw wrongType();
}

export function wrongType(): Problem {
  return new Problem("unsupported_media_type", "send application/json in UTF-8", { at: "Content-Type" });
}
