import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../src/database/pool.ts";
import { statement } from "../../src/database/sql.ts";
import { development } from "../support/development.ts";

/** A provider that keeps every byte that it was sent, and answers nothing that helps. */
async function listener(): Promise<{ readonly url: string; readonly heard: string[] }> {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => {
      body += part;
    });
    request.on("end", () => {
      heard.push(`${request.method} ${request.url} ${request.rawHeaders.join(" ")} ${body}`);
      response.writeHead(503, { "content-type": "text/plain" }).end("not now");
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard }; // It listens on TCP.
}

/** Every row of every table, as text. */
async function everything(url: string): Promise<string> {
  const database = await connect({ url });
  try {
    const { rows } = await database.read<{ name: string }>(
      statement("select quote_ident(tablename) as name from pg_tables where schemaname = 'public'", []),
    );
    const texts = await Promise.all(
      rows.map(({ name }) =>
        database.read<{ all: string | null }>(
          statement(`select string_agg(t::text, ' ') as all from ${name} t`, []),
        ),
      ),
    );
    return texts.map((each) => each.rows[0]?.all ?? "").join("\n");
  } finally {
    await database.close();
  }
}

test("A02, A28: a caller's token reaches no provider, no log, no row and no answer", async () => {
  const provider = await listener();
  const here = await development({ shopUrl: provider.url });
  const [tenant] = here.writ.configuration.tenants;
  if (tenant === undefined) throw new Error("the example has a tenant");
  const mint = (roles: readonly string[]) =>
    here.issuer.mint({ tenant, principal: "ada", client: "agent-1", roles, ttlS: 600 });
  const good = await mint(["agent"]);
  const stranger = await mint([]);
  const broken = `${good.slice(0, -8)}canarysg`;
  const answers: string[] = [];
  const propose = async (token: string, key: string) => {
    const reply = await fetch(`${here.url}/v1/operations`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body: JSON.stringify({
        tool: "shop.set_available",
        arguments: { warehouse: "wh_1", item: `item_${key}`, available: 5 },
        expectedVersion: '"v1"',
      }),
    });
    answers.push(`${[...reply.headers].join(" ")} ${await reply.text()}`);
    return reply.status;
  };

  expect([await propose(good, "k1"), await propose(stranger, "k2"), await propose(broken, "k3")]).toEqual([
    202, 403, 401,
  ]);
  expect(provider.heard.length).toBeGreaterThan(0);
  const rows = await everything(here.databaseUrl);
  expect(rows).toContain("shop.set_available");
  for (const token of [good, stranger, broken]) {
    // The last third of a signature is no prefix that two tokens could share.
    const canary = token.slice(-24);
    for (const [place, text] of Object.entries({
      provider: provider.heard.join("\n"),
      log: here.logged.join("\n"),
      rows,
      answers: answers.join("\n"),
    }))
      expect({ place, holds: text.includes(canary) }).toEqual({ place, holds: false });
  }
});
