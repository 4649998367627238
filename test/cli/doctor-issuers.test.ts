import { expect, test } from "vitest";
import { issuerChecks } from "../../src/cli/doctor-issuers.ts";
import { load } from "../config/folder.ts";
import { type Mood, testIssuer } from "../support/issuer.ts";

/** What the doctor says of one issuer in this mood. */
async function said(mood: Mood) {
  const at = await testIssuer();
  at.mood = mood;
  const yaml = `issuers:\n  - { issuer: "${at.url}", audience: "https://writ.example", tenant: acme }\n`;
  return issuerChecks(load({ "writ.yaml": yaml }));
}

test("an issuer that answers is well, with the number of its keys", async () => {
  expect(await said("good")).toMatchObject([{ verdict: "ok", says: expect.stringMatching(/: 1 key$/) }]);
});

test("an issuer whose keys cannot be read fails and says why; one whose clock is off says by how much", async () => {
  expect(await said("broken")).toMatchObject([
    { verdict: "fail", says: expect.stringContaining("the address of its keys answers 503") },
  ]);
  expect(await said("late")).toMatchObject([
    { verdict: "fail", says: expect.stringMatching(/is (59|60) s behind this machine's$/) },
  ]);
});

test("no issuer at all is known, for nobody could come", async () => {
  expect(await issuerChecks(load({ "writ.yaml": "{}\n" }))).toMatchObject([
    { verdict: "warn", name: "issuer" },
  ]);
});
