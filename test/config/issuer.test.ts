import { expect, test } from "vitest";
import { load, mistakeIn } from "./folder.ts";

const issuer = (settings: string) => ({
  "writ.yaml": `tenants: [acme, globex]\nissuers:\n  - { ${settings} }\n`,
});
const AT = "issuer: 'https://a.example', audience: b";

test.each<[string, Readonly<Record<string, string>>, string]>([
  ["over http", issuer("issuer: 'http://a.example', audience: b, tenant: acme"), "write an https address"],
  [
    "with a loopback's look",
    issuer("issuer: 'http://127.0.0.1.evil.example', audience: b, tenant: acme"),
    "write an https address",
  ],
  [
    "with a password",
    issuer("issuer: 'https://u:p@a.example', audience: b, tenant: acme"),
    "write an address without",
  ],
  ["with a symmetric algorithm", issuer(`${AT}, tenant: acme, algorithms: [HS256]`), "write one of EdDSA, "],
  [
    "for a tenant that is none",
    issuer(`${AT}, tenantClaim: org, tenants: [acne]`),
    '"acne" is not among the tenants',
  ],
  [
    "for one tenant and a list",
    issuer(`${AT}, tenant: acme, tenants: [acme]`),
    "this stands beside tenantClaim",
  ],
  ["with a login that has no name", issuer(`${AT}, tenant: acme, login: {}`), '"clientId" is missing'],
  [
    "with a login's secret in the open",
    issuer(`${AT}, tenant: acme, login: { clientId: c, clientSecret: s3 }`),
    "a secret is never written here",
  ],
])("an issuer %s is one sentence", (_what, files, sentence) => {
  expect(mistakeIn(files)).toContain(sentence);
});

test("in production an issuer is never at this machine's own address", () => {
  const local = issuer("issuer: 'http://127.0.0.1:9000', audience: b, tenant: acme");

  expect(load(local).issuers).toMatchObject([{ issuer: "http://127.0.0.1:9000", keys: "discovered" }]);
  expect(mistakeIn(local, { NODE_ENV: "production" })).toContain(
    "in production an issuer has an https address",
  );
});
