import { expect } from "vitest";
import { gitDaemon } from "../servers/git-daemon.ts";
import { gitHttps } from "../servers/git-https.ts";
import { needs } from "../support/needs.ts";
import { changing, connectorTo, LOOKUP, repository } from "./git-rig.ts";
import { closeAfter } from "./rig.ts";

const test = needs(gitDaemon);
const auth = { user: "writ", password: "secret-token" };
const AUTHORIZATION = `Basic ${Buffer.from("writ:secret-token").toString("base64")}`;

async function served() {
  const repo = repository();
  const https = await gitHttps(repo, AUTHORIZATION);
  closeAfter(https.stop);
  return { repo, https };
}

test("over https the credential is sent, and a commit is written and found as elsewhere", async () => {
  const { repo, https } = await served();
  const connector = connectorTo(`${https.url}/${repo.name}`, { auth, ca: https.ca });
  const errand = changing(repo);

  expect(await connector.perform(errand)).toMatchObject({ kind: "confirmed" });
  expect(await connector.perform(errand)).toMatchObject({ kind: "lost", answer: "duplicate" });
  expect(await connector.lookUp(errand, LOOKUP)).toMatchObject({ kind: "confirmed" });
  expect(repo.commits()).toHaveLength(2);
  expect(https.strangers()).toBe(0);
});

test("a wrong credential, an unknown certificate and a redirect are absences, and never show the secret", async () => {
  const { repo, https } = await served();
  const wrong = connectorTo(`${https.url}/${repo.name}`, { auth: { bearer: "secret-token" }, ca: https.ca });
  const unknown = connectorTo(`${https.url}/${repo.name}`, { auth });
  const redirected = connectorTo(`${https.url}/elsewhere/${repo.name}`, { auth, ca: https.ca });

  for (const connector of [wrong, unknown, redirected]) {
    const outcome = await connector.perform(changing(repo));
    expect(outcome).toMatchObject({ kind: "absent" });
    expect(JSON.stringify(outcome)).not.toMatch(/secret-token|d3JpdD/);
  }
  expect(repo.commits()).toHaveLength(1);
});
