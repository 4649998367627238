import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { selfSigned } from "./certificate.ts";
import { errandOf, living, preset } from "./errand.ts";
import { closeAfter, connectorTo } from "./rig.ts";

const NONE = preset("http/no-guarantees", living("5s"));
const { key, cert } = selfSigned("shop.internal");
const resolve = () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]);

/** A provider behind TLS that counts what reaches it. */
async function secureShop(): Promise<{ readonly port: number; readonly requests: () => number }> {
  let requests = 0;
  const server = createServer({ key, cert }, (_request, response) => {
    requests += 1;
    response.writeHead(201, { "content-type": "application/json" }).end('{"id":"ord_1"}');
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  closeAfter(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return { port, requests: () => requests };
}

test("a provider with its own certificate authority is reached when the settings name it", async () => {
  const provider = await secureShop();

  const learned = await connectorTo(`https://shop.internal:${provider.port}`, { resolve, ca: cert }).perform(
    errandOf(NONE),
  );

  expect([learned.kind, provider.requests()]).toEqual(["confirmed", 1]);
});

test("behind TLS too, a closed gate lets no byte of the request leave", async () => {
  const provider = await secureShop();

  const learned = await connectorTo(`https://shop.internal:${provider.port}`, { resolve, ca: cert }).perform(
    errandOf(NONE, { gate: () => false }),
  );

  expect([learned.kind, provider.requests()]).toEqual(["absent", 0]);
});

test.each([
  ["an authority that nobody named", "shop.internal", undefined],
  ["another host's name", "other.internal", cert],
])("a certificate of %s is absent, whatever the environment says", async (_name, host, ca) => {
  const provider = await secureShop();
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  closeAfter(async () => void delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);

  const learned = await connectorTo(`https://${host}:${provider.port}`, {
    resolve,
    ...(ca === undefined ? {} : { ca }),
  }).perform(errandOf(NONE));

  expect([learned.kind, provider.requests()]).toEqual(["absent", 0]);
});
