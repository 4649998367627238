import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { errandOf, living, preset } from "./errand.ts";
import { closeAfter, connectorTo, shop } from "./rig.ts";

const KEY = preset("http/idempotency-key", living("5s"));
const NONE = preset("http/no-guarantees", living("5s"));

/** How often a request's first bytes were about to be written while `work` ran, as undici itself tells. */
async function headersSent<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly sent: number }> {
  let sent = 0;
  const count = () => {
    sent += 1;
  };
  subscribe("undici:client:sendHeaders", count);
  try {
    return { result: await work(), sent };
  } finally {
    unsubscribe("undici:client:sendHeaders", count);
  }
}

/** An address on this machine where nobody listens. */
async function deadUrl(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}

test("a closed gate sends nothing: the provider sees a connection and no request, and the attempt is absent", async () => {
  const provider = await shop();

  const { result, sent } = await headersSent(() =>
    connectorTo(provider.url).perform(errandOf(NONE, { gate: () => false })),
  );

  expect(result).toEqual({ kind: "absent", why: "the send gate was closed" });
  expect([sent, provider.requests().length, provider.connections()]).toEqual([0, 0, 1]);
});

test("a closed gate sends nothing on a kept connection either", async () => {
  const provider = await shop({ key: { retentionMs: null, after: "executes" } });
  const connector = connectorTo(provider.url);
  await connector.perform(errandOf(KEY));

  const learned = await connector.perform(errandOf(KEY, { operation: 2, gate: () => false }));

  expect(learned.kind).toBe("absent");
  expect(provider.requests()).toHaveLength(1);
});

test("the gate is asked once, after the connection stands and before the first byte", async () => {
  const provider = await shop();
  const seen: number[][] = [];
  const gate = () => {
    seen.push([provider.connections(), provider.requests().length]);
    return true;
  };
  const connected = () => seen.push([-1, -1]);
  subscribe("undici:client:connected", connected);
  closeAfter(async () => unsubscribe("undici:client:connected", connected));

  await connectorTo(provider.url).perform(errandOf(NONE, { gate }));

  expect(seen).toHaveLength(2);
  expect(seen[0]).toEqual([-1, -1]);
  expect(seen[1]?.[1]).toBe(0);
});

test("C011 (a) a refused connection is absent: nothing was sent", async () => {
  const url = await deadUrl();

  const { result, sent } = await headersSent(() => connectorTo(url).perform(errandOf(NONE)));

  expect(result).toMatchObject({ kind: "absent", why: expect.stringContaining("ECONNREFUSED") });
  expect(sent).toBe(0);
});

test("C011 (b) a 422 is refused, with the provider's own words", async () => {
  const provider = await shop();

  const learned = await connectorTo(provider.url).perform(
    errandOf(NONE, { arguments: { item: "main/bolt", quantity: -1 } }),
  );

  expect(learned).toEqual({
    kind: "refused",
    reason: "provider_refused",
    detail: 'the provider answered 422: "item" and a "quantity" are needed',
  });
});

test("C011 (c) a connection reset after the body was sent is lost", async () => {
  const provider = await shop();
  provider.fault("drop_after");

  expect((await connectorTo(provider.url).perform(errandOf(NONE))).kind).toBe("lost");
});

test("C012 an error status after the effect is lost, and one request was sent", async () => {
  const provider = await shop();
  provider.fault("error_after", { times: "always" });
  const errand = errandOf(NONE);

  const learned = await connectorTo(provider.url).perform(errand);

  expect(learned).toMatchObject({ kind: "lost", seen: { status: 500 } });
  expect(provider.requests()).toHaveLength(1);
  expect(provider.effectsOf(errand.action.operationId)).toHaveLength(1);
});

test("an unknown host is absent: nothing was sent", async () => {
  const resolve = () =>
    Promise.reject(Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" }));

  const learned = await connectorTo("http://shop.invalid", { resolve }).perform(errandOf(NONE));

  expect(learned).toMatchObject({ kind: "absent", why: expect.stringContaining("ENOTFOUND") });
});

test("a failed TLS handshake is absent: nothing of the request was sent", async () => {
  const provider = await shop();

  const { result, sent } = await headersSent(() =>
    connectorTo(provider.url.replace("http:", "https:")).perform(errandOf(NONE)),
  );

  expect(result.kind).toBe("absent");
  expect([sent, provider.requests().length]).toEqual([0, 0]);
});

test("what was aborted before it began is absent", async () => {
  const provider = await shop();
  const signal = AbortSignal.abort();

  const learned = await connectorTo(provider.url).perform(errandOf(NONE, { signal }));

  expect(learned.kind).toBe("absent");
  expect([provider.connections(), provider.requests().length]).toEqual([0, 0]);
});

test("a name server that never answers ends at the request's life as absent, and nothing leaves afterwards", async () => {
  const provider = await shop();
  let answer = (_: { address: string; family: number }[]) => {};
  const resolve = () => new Promise<{ address: string; family: number }[]>((done) => (answer = done));
  const url = provider.url.replace("127.0.0.1", "shop.internal");
  const contract = preset("http/idempotency-key", living("250ms"));

  const { sent, result } = await headersSent(async () => {
    const learned = await connectorTo(url, { resolve }).perform(errandOf(contract));
    answer([{ address: "127.0.0.1", family: 4 }]);
    await expect.poll(() => provider.connections()).toBe(1);
    return learned;
  });

  expect(result.kind).toBe("absent");
  expect([sent, provider.requests().length]).toEqual([0, 0]);
});

test("the service's signal ends a request that is under way as lost", async () => {
  const provider = await shop();
  provider.fault("hang");
  const stop = new AbortController();
  const running = connectorTo(provider.url).perform(errandOf(NONE, { signal: stop.signal }));
  await expect.poll(() => provider.requests()).toHaveLength(1);

  stop.abort();

  expect((await running).kind).toBe("lost");
});

test("a redirect is not followed: nobody asks the other address", async () => {
  const provider = await shop();
  provider.fault("redirect");

  const learned = await connectorTo(provider.url).perform(errandOf(NONE));

  expect(learned).toMatchObject({ kind: "lost", seen: { status: 307 } });
  expect(provider.requests().map(({ path }) => path)).toEqual(["/orders"]);
});

test("a write whose repeat is not safe has a connection of its own; one whose repeat is safe shares a kept one", async () => {
  const [careful, sharing] = [await shop(), await shop({ key: { retentionMs: null, after: "executes" } })];
  const [own, kept] = [connectorTo(careful.url), connectorTo(sharing.url, { connectionsMax: 1 })];

  for (const operation of [1, 2, 3]) await own.perform(errandOf(NONE, { operation }));
  for (const operation of [1, 2, 3]) await kept.perform(errandOf(KEY, { operation }));

  expect([careful.requests().length, careful.connections()]).toEqual([3, 3]);
  expect([sharing.requests().length, sharing.connections()]).toEqual([3, 1]);
});

test("C120 a reset on a kept connection after the effect is one request line and lost: the client never sends again by itself", async () => {
  const provider = await shop({ key: { retentionMs: null, after: "executes" } });
  const connector = connectorTo(provider.url);
  await connector.perform(errandOf(KEY, { operation: 1 }));
  provider.fault("drop_after");
  const errand = errandOf(KEY, { operation: 2 });

  const learned = await connector.perform(errand);

  expect(learned.kind).toBe("lost");
  expect(provider.requests()).toHaveLength(2);
  expect(provider.effectsOf(errand.action.operationId)).toHaveLength(1);
});

test.each([408, 425, 503])("C120 %i with Retry-After is not repeated by the client", async (status) => {
  const provider = await shop();
  provider.fault("answer", { status, headers: { "retry-after": "0" }, times: "always" });

  const learned = await connectorTo(provider.url).perform(errandOf(NONE));

  expect(learned.kind).toBe("lost");
  expect(provider.requests()).toHaveLength(1);
});

test("C122 no proxy from the environment sees the request", async () => {
  const [provider, proxy] = [await shop(), await shop()];
  const before = { ...process.env };
  Object.assign(process.env, {
    HTTP_PROXY: proxy.url,
    http_proxy: proxy.url,
    HTTPS_PROXY: proxy.url,
    ALL_PROXY: proxy.url,
    NODE_USE_ENV_PROXY: "1",
  });
  try {
    expect((await connectorTo(provider.url).perform(errandOf(NONE))).kind).toBe("confirmed");
  } finally {
    process.env = before;
  }

  expect([provider.requests().length, proxy.connections()]).toEqual([1, 0]);
});

test("an answer that is too large, or in a coding nobody asked for, decides nothing by its body", async () => {
  const provider = await shop();
  const connector = connectorTo(provider.url, { answerMaxBytes: 1000 });
  provider.fault("big_body", { bytes: 5000 });
  const large = await connector.perform(errandOf(NONE, { operation: 1 }));
  provider.fault("answer_after", {
    status: 201,
    headers: { "content-encoding": "gzip" },
    body: { id: "ord_2" },
  });
  const coded = await connector.perform(errandOf(NONE, { operation: 2 }));

  expect(large).toMatchObject({
    kind: "lost",
    cause: expect.stringContaining("1000 bytes"),
    seen: { status: 201 },
  });
  expect(coded).toMatchObject({ kind: "lost", seen: { status: 201 } });
  expect(provider.requests().every(({ headers }) => headers["accept-encoding"] === "identity")).toBe(true);
});
