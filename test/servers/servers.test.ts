import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { needs } from "../support/needs.ts";
import { etcd } from "./etcd.ts";
import { freePort, launch, serverFolder } from "./launch.ts";

needs(etcd)("etcd answers on its own port, and is gone after its stop", async () => {
  const server = await etcd.start();

  const reply = await fetch(`${server.url}/v3/kv/range`, { method: "POST", body: '{"key":"Ym9sdA=="}' });
  const { status } = reply;
  await reply.arrayBuffer();
  await server.stop();
  await server.stop();

  expect(status).toBe(200);
  await expect(fetch(server.url)).rejects.toThrow();
});

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
