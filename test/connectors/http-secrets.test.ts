import { expect, test } from "vitest";
import { type HttpSettings, settingsDigestValue } from "../../src/connectors/http.ts";
import { canonicalJson } from "../../src/core/json.ts";
import { errandOf, living, preset } from "./errand.ts";
import { connectorTo, shop } from "./rig.ts";

test("a provider that echoes every secret puts none into what is kept", async () => {
  const provider = await shop();
  const settings: Partial<HttpSettings> = {
    auth: { basic: { user: "writ", password: "hunter22hunter22" } },
    secrets: { token: "tok_verysecret" },
    base: provider.url,
  };
  const basic = Buffer.from("writ:hunter22hunter22").toString("base64");
  const echo = `hunter22hunter22 ${basic} tok_verysecret ${encodeURIComponent("tok_verysecret")}`;
  const outcomes = [
    { when: { status: 200 }, is: "effect", receipt: { echo: "/echo", deep: "/deep" } },
    { when: { status: 403 }, is: "final_no" },
  ];
  const request = {
    method: "POST",
    url: "{{base}}/orders",
    headers: { "X-Token": "{{secret:token}}" },
    body: "{{args}}",
  };
  const contract = preset("http/no-guarantees", { ...living("5s"), outcomes, request });
  provider.fault("answer", { status: 200, body: { echo, deep: { list: [echo] } } });
  provider.fault("answer", { status: 403, body: { message: echo } });
  provider.fault("answer", { status: 500, body: { message: echo } });
  const connector = connectorTo(provider.url, settings);

  const learned = [];
  for (const operation of [1, 2, 3]) learned.push(await connector.perform(errandOf(contract, { operation })));

  expect(learned.map(({ kind }) => kind)).toEqual(["confirmed", "refused", "lost"]);
  expect(provider.requests()[0]?.headers).toMatchObject({
    authorization: `Basic ${basic}`,
    "x-token": "tok_verysecret",
  });
  for (const secret of ["hunter22hunter22", basic, "tok_verysecret"])
    expect(JSON.stringify(learned)).not.toContain(secret);
});

test("the settings' digest pins where and as whom, holds no secret, and changes with the credential", () => {
  const settings = (password: string) =>
    settingsDigestValue({
      base: "https://shop.example/api/",
      auth: { basic: { user: "writ", password } },
      secrets: { token: "tok_verysecret" },
    });

  const text = canonicalJson(settings("hunter22"));

  expect(text).toContain("https://shop.example/api");
  for (const secret of ["hunter22", "tok_verysecret", Buffer.from("writ:hunter22").toString("base64")])
    expect(text).not.toContain(secret);
  expect(text).not.toBe(canonicalJson(settings("hunter23")));
  expect(text).toBe(canonicalJson(settings("hunter22")));
});
