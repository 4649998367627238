import { describe, expect } from "vitest";
import { buildCommit } from "../../src/connectors/git/commit.ts";
import { push } from "../../src/connectors/git/push.ts";
import { inScratch } from "../../src/connectors/git/scratch.ts";
import { gitDaemon } from "../servers/git-daemon.ts";
import { needs } from "../support/needs.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import { changing, connectorTo, LOOKUP, repository } from "./git-rig.ts";

const test = needs(gitDaemon);

describe("one commit", () => {
  test("stands on the version that was authorized, names its operation, and keeps what it does not change", async () => {
    const repo = repository();
    const before = repo.at("main");
    const errand = changing(repo);

    const outcome = await connectorTo(repo.url).perform(errand);

    const [commit = "", parent] = repo.commits();
    expect(outcome).toMatchObject({ kind: "confirmed", evidence: { data: { commit } } });
    expect(parent).toBe(before);
    expect(repo.file("config/app.json")).toBe('{"available":18}\n');
    expect(repo.file("README")).toBe("hello\n");
    expect(repo.show(commit)).toContain(
      `author Writ <writ@example.test> 1767225600 +0000\ncommitter Writ <writ@example.test> 1767225600 +0000\n\nSet what is available\n\nWrit-Operation: ${errand.action.operationId}\nWrit-Digest: ${errand.digest}`,
    );
    expect(repo.at(`refs/writ/${errand.action.operationId}`)).toBe(commit);
  });

  test("is written once: a repeat finds it, also when others have gone on from there", async () => {
    const repo = repository();
    const errand = changing(repo);
    const connector = connectorTo(repo.url);

    await connector.perform(errand);
    const again = await connector.perform(errand);
    repo.commit({ README: "later\n" }, "somebody goes on");
    const later = await connector.perform(errand);

    expect([again, later]).toMatchObject([
      { kind: "lost", answer: "duplicate" },
      { kind: "lost", answer: "duplicate" },
    ]);
    expect(await connector.lookUp(errand, LOOKUP)).toMatchObject({ kind: "confirmed" });
    expect(repo.commits()).toHaveLength(3);
  });

  test("of two that name one version exactly one is written", async () => {
    const repo = repository();
    const connector = connectorTo(repo.url);
    const errands = [1, 2, 3].map((operation) => changing(repo, {}, { operation }));

    const outcomes = await Promise.all(errands.map((errand) => connector.perform(errand)));

    expect(outcomes.filter(({ kind }) => kind === "confirmed")).toHaveLength(1);
    // A lock of the server's may be a passing no; another effect may not.
    expect(outcomes.filter(({ kind }) => kind === "refused" || kind === "absent")).toHaveLength(2);
    expect(repo.commits()).toHaveLength(2);
  });

  test("on a version that is not the current one is refused, and the current one is named", async () => {
    const repo = repository();
    const errand = changing(repo);
    const current = repo.commit({ "config/app.json": '{"available":18}\n' }, "the same, by hand");

    expect(await connectorTo(repo.url).perform(errand)).toMatchObject({
      kind: "refused",
      reason: "precondition_failed",
      currentVersion: current,
    });
    expect(repo.commits()[0]).toBe(current);
  });

  test("the same content by somebody else is never taken as ours", async () => {
    const repo = repository();
    const errand = changing(repo);
    repo.commit({ "config/app.json": '{"available":18}\n' }, "Set what is available");

    expect(await connectorTo(repo.url).lookUp(errand, LOOKUP)).toEqual({ kind: "absent" });
  });

  test("other content under the same identity is a mismatch, and a conflict when it is looked up", async () => {
    const repo = repository();
    const connector = connectorTo(repo.url);
    await connector.perform(changing(repo));
    const other = changing(repo, { message: "something else" });

    expect(await connector.perform(other)).toMatchObject({ kind: "lost", answer: "mismatch" });
    expect(await connector.lookUp(other, LOOKUP)).toMatchObject({ kind: "conflict" });
    expect(repo.commits()).toHaveLength(2);
  });

  test("a message cannot bring trailers of its own", async () => {
    const repo = repository();
    const forged = `x\n\nWrit-Operation: op_${"0".repeat(32)}\nWrit-Barrier: raised`;
    const errand = changing(repo, { message: forged });
    const connector = connectorTo(repo.url);

    await connector.perform(errand);

    expect(await connector.lookUp(errand, LOOKUP)).toMatchObject({ kind: "confirmed" });
  });
});

describe("a tombstone", () => {
  test("stops a late first attempt for ever", async () => {
    const repo = repository();
    const errand = changing(repo);
    const connector = connectorTo(repo.url);

    expect(await connector.bar(errand)).toMatchObject({ raised: true });
    expect(await connector.bar(errand)).toMatchObject({ raised: true });
    expect(await connector.lookUp(errand, LOOKUP)).toEqual({ kind: "absent", sawBarrier: true });
    expect(await connector.perform(errand)).toMatchObject({ kind: "refused" });
    expect(repo.commits()).toHaveLength(1);
  });

  test("stops a push that was already under way when it was raised", async () => {
    const repo = repository();
    const errand = changing(repo);
    const connector = connectorTo(repo.url);
    const ref = `refs/writ/${errand.action.operationId}`;
    await connector.bar(errand);
    const tombstone = repo.at(ref) ?? "";
    repo.remove(ref);
    // The gate is asked between the look at the remote and the push: just then the tombstone appears.
    const gate = (): boolean => {
      repo.move(ref, tombstone);
      return true;
    };

    const outcome = await connector.perform({ ...errand, gate });

    expect(outcome).toMatchObject({ kind: "refused" });
    expect(repo.commits()).toHaveLength(1);
  });

  test("stops nothing that does not carry the operation's ref (broken: the branch alone is pushed)", async () => {
    const repo = repository();
    const errand = changing(repo);
    await connectorTo(repo.url).bar(errand);
    const parent = repo.at("main") ?? "";
    const settings = {
      remote: repo.url,
      author: { name: "Writ", email: "w@x.test" },
      folder: scratchFolder(),
    };
    const plan = {
      parent,
      files: [{ path: "config/app.json", content: Buffer.from("18") }],
      message: "late",
      operation: errand.action.operationId,
      digest: errand.digest,
      at: "2026-01-01T00:00:00.000Z",
    };

    const pushed = await inScratch(settings, new AbortController().signal, async (scratch) => {
      await scratch.git(["fetch", "--quiet", "--depth=1", repo.url, parent]);
      const moves = [{ ref: "refs/heads/main", expected: parent }];
      return push(scratch, await buildCommit(scratch, plan), moves, () => true);
    });

    expect(pushed).toMatchObject({ kind: "answered", refs: [{ is: "ok" }] });
    expect(repo.commits()).toHaveLength(2);
  });

  test("that comes too late does not stand, and the effect is found", async () => {
    const repo = repository();
    const errand = changing(repo);
    const connector = connectorTo(repo.url);
    await connector.perform(errand);

    expect(await connector.bar(errand)).toMatchObject({ raised: false });
    expect(await connector.lookUp(errand, LOOKUP)).toMatchObject({ kind: "confirmed" });
  });
});
