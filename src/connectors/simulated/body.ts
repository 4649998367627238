import type { IncomingMessage } from "node:http";

const BODY_MAX = 1024 * 1024;

/** The text of a body, or undefined when it is too large. */
export async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= BODY_MAX) chunks.push(chunk);
  }
  return size <= BODY_MAX ? Buffer.concat(chunks).toString("utf8") : undefined;
}
