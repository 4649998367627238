import { get } from "node:http";
import { expect, test } from "vitest";
import { tenantId } from "../../src/core/ids.ts";
import { consolesOf } from "../../src/identity/console.ts";
import { cookiesOf } from "../../src/identity/cookies.ts";
import { identityStore } from "../../src/ledger/identity-store.ts";
import { door } from "../support/door.ts";
import { rig } from "../support/rig.ts";

test("A41: a browser's stream ends when its person signs out", async () => {
  const here = await rig();
  const publicUrl = () => "https://writ.example";
  const cookies = cookiesOf(publicUrl);
  const consoles = consolesOf({ sessions: identityStore(here.database).consoles, cookies, publicUrl });
  const there = await door(here, {
    identify: consoles.identify,
    settings: { bounds: { heartbeatMs: 60, pollMs: 20 } },
  });
  const person = { tenantId: tenantId("acme"), principalId: "i#ada", clientId: "console", roles: [] };
  const [cookie = ""] = (await consoles.start(person, undefined)).split(";");

  const heard = { text: "" };
  const ended = new Promise<void>((resolve, reject) => {
    const request = get(`${there.url}/v1/events`, { headers: { cookie } }, (reply) => {
      reply.setEncoding("utf8").on("data", (part: string) => {
        heard.text += part;
      });
      reply.on("end", resolve);
    });
    request.on("error", reject);
  });
  await expect.poll(() => heard.text, { timeout: 5_000, interval: 10 }).toContain("still here");
  await consoles.end(cookie);

  await ended;
  expect(heard.text).not.toContain("event: change");
});
