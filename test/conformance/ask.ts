export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A client that knows nothing of Writ: one request, and whatever came back. */
export async function ask(
  url: string,
  method = "GET",
  more: { readonly body?: string | object; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Asked> {
  const { body, headers = {} } = more;
  const json: Readonly<Record<string, string>> =
    typeof body === "object" ? { "content-type": "application/json" } : {};
  const reply = await fetch(url, {
    method,
    headers: { "user-agent": "onlooker", ...json, ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
    redirect: "manual",
  });
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
}

/** The same where the answer must be JSON and a yes. */
export async function askJson(...given: Parameters<typeof ask>): Promise<unknown> {
  const { status, text } = await ask(...given);
  if (status >= 300) throw new Error(`${given[1] ?? "GET"} ${given[0]} was answered with ${status}: ${text}`);
  return JSON.parse(text);
}

export function addressOf({ url }: { readonly url: string }): {
  readonly host: string;
  readonly port: number;
} {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}

/** Where a server's `url` is reached over another address, such as a proxy's. */
export function over(url: string, at: { readonly host: string; readonly port: number }): string {
  const moved = new URL(url);
  moved.host = `${at.host}:${at.port}`;
  return moved.href.replace(/\/$/, "");
}
