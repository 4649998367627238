import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { needs } from "../support/needs.ts";
import { alertmanager } from "./alertmanager.ts";
import { apacheDav } from "./apache-dav.ts";
import { etcd } from "./etcd.ts";
import { freePort, launch, serverFolder } from "./launch.ts";
import { nginxDav } from "./nginx-dav.ts";
import { radicale } from "./radicale.ts";

const WRITES = [
  { server: etcd, path: "/v3/kv/put", method: "POST", body: { key: "Ym9sdA==", value: "MTg=" }, says: 200 },
  { server: apacheDav, path: "/bolt", method: "PUT", body: { available: 18 }, says: 201 },
  { server: nginxDav, path: "/bolt", method: "PUT", body: { available: 18 }, says: 201 },
  { server: alertmanager, path: "/api/v2/silences", method: "GET", says: 200 },
  { server: radicale, path: "/", method: "PROPFIND", says: 207 },
];

for (const { server, path, method, body, says } of WRITES) {
  needs(server)(`${server.name} answers on its own port, and is gone after its stop`, async () => {
    const running = await server.start();

    const { url } = running;
    const { status } = await asked(`${url}${path}`, method, body);
    await running.stop();
    await running.stop();

    expect(status).toBe(says);
    await expect(asked(url, "GET")).rejects.toThrow();
  });
}

test("a server that ends instead of answering says what it printed, and leaves no folder", async () => {
  const folder = serverFolder("broken");
  const started = launch({
    program: "sh",
    args: ["-c", `echo "no port ${await freePort()}"; exit 3`],
    folder,
    ready: async () => false,
  });

  await expect(started).rejects.toThrow(/ended with 3.*no port/);
  expect(existsSync(folder)).toBe(false);
});

async function asked(url: string, method: string, body?: object): Promise<Response> {
  const reply = await fetch(url, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
  await reply.arrayBuffer();
  return reply;
}
