import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tenantId } from "../../src/core/ids.ts";
import { localIssuer } from "../../src/identity/local-issuer.ts";
import { compose, loadConfiguration } from "../../src/index.ts";
import { folderOf } from "../config/folder.ts";
import { freshDatabase } from "../support/database.ts";
import { type Office, telegraph } from "./telegraph.ts";

const WRIT = `roles:
  agent: ["telegram.*"]
providers:
  office: { kind: telegraph, office: Paddington, password: env:PASSWORD }
`;
const TOOL = `tool: telegram.send
title: Send a telegram
provider: office
input: { type: object, additionalProperties: false, required: [to], properties: { to: { type: string } } }
resource: { type: Telegram, id: "{to}" }
expectedVersion: none
autonomy: allowed
contract:
  contract: telegraph/v1
  transport: telegraph
  settle: { bounded: 1m }
  request: { to: "{{resource}}", text: "{{op.id}} STOP" }
  outcomes: [{ when: { status: 200, body: { /taken: true } }, is: effect, receipt: { number: /number } }]
`;

test("an installation runs a connector that came from elsewhere, from the proposal to the receipt", async () => {
  const told: unknown[] = [];
  const office: Office = async (telegram, { gate }) => {
    if (!gate()) return { kind: "unsent", why: "the gate was closed" };
    told.push(telegram);
    return { kind: "answered", reply: { status: 200, headers: {}, at: 0, body: { taken: true, number: 7 } } };
  };
  const connectors = [telegraph(office)];
  const folder = folderOf({ "writ.yaml": WRIT, "tools/telegram.yaml": TOOL });
  const configuration = loadConfiguration(folder, { PASSWORD: "hunter2secret" }, connectors);
  const home = mkdtempSync(join(tmpdir(), "writ-home-"));
  const { url: databaseUrl } = await freshDatabase();
  const silent = () => undefined;
  const log = { info: silent, warn: silent, error: silent };
  const issuer = localIssuer({ home, tenants: [tenantId("main")] });
  const writ = await compose({ configuration, databaseUrl, home, log, connectors, issuers: [issuer.issuer] });
  onTestFinished(async () => {
    await writ.close();
    rmSync(home, { recursive: true, force: true });
  });
  const { url } = await writ.listen({ host: "127.0.0.1", port: 0 });
  const token = await issuer.mint({
    tenant: tenantId("main"),
    principal: "ann",
    client: "agent",
    roles: ["agent"],
    ttlS: 60,
  });

  const answer = await fetch(`${url}/v1/operations`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", prefer: "wait=10" },
    body: JSON.stringify({ tool: "telegram.send", arguments: { to: "york" } }),
  });

  const operation = (await answer.json()) as { readonly state: string; readonly operationId: string };
  expect([answer.status, operation.state]).toEqual([200, "succeeded"]);
  expect(told).toEqual([{ to: "york", text: `${operation.operationId} STOP` }]);
});

test("an installation that was not given the connector says so", async () => {
  const folder = folderOf({ "writ.yaml": WRIT, "tools/telegram.yaml": TOOL });

  expect(() => loadConfiguration(folder, { PASSWORD: "x" })).toThrow("writ.yaml:4:");
});
