import type { JsonObject } from "../../core/json.ts";
import { buildCommit, buildTombstone, type FoundCommit, TreeRefuses, trailersOf } from "./commit.ts";
import type { GitMessage } from "./message.ts";
import { type Pushed, push, type RefAnswer } from "./push.ts";
import { done, type Scratch } from "./scratch.ts";

/**
 * What git has for an answer, in numbers that contracts know: 200 done · 208 it was there already, ours · 403 the server's rules refuse ·
 * 404 not there · 409 our ref holds something else · 410 our ref holds a tombstone · 412 the branch stands elsewhere · 422 it does not fit
 * onto the tree · 503 not at this moment.
 */
type GitStatus = 200 | 208 | 403 | 404 | 409 | 410 | 412 | 422 | 503;

export type GitAnswer =
  | { readonly kind: "answered"; readonly status: GitStatus; readonly body: JsonObject }
  | { readonly kind: "unsent"; readonly why: string }
  | { readonly kind: "silent"; readonly cause: string };

/**
 * Speaks one message. Throws `GitUnable` for what goes wrong before the push, and for a question after a push that every ref refused: in
 * both cases nothing moved.
 */
export function speak(scratch: Scratch, message: GitMessage, gate: () => boolean): Promise<GitAnswer> {
  switch (message.kind) {
    case "head":
      return head(scratch, message.branch);
    case "find":
      return find(scratch, message);
    case "bar":
      return bar(scratch, message, gate);
    case "commit":
      return commit(scratch, message, gate);
  }
}

function answer(status: GitStatus, body: JsonObject): GitAnswer {
  return { kind: "answered", status, body };
}

/** Where refs stand now. A listing that broke off is an error of git's, never an empty listing. */
async function standing(scratch: Scratch, refs: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const argv = ["ls-remote", "--refs", "--quiet", scratch.settings.remote, ...refs];
  const lines = done(await scratch.git(argv), "ls-remote").split("\n");
  // A pattern also matches a longer name that ends with it: only the whole name counts.
  return new Map(
    lines.flatMap((line): [string, string][] => {
      const [, id = "", ref = ""] = /^([0-9a-f]{40})\t(\S+)$/.exec(line) ?? [];
      return refs.includes(ref) ? [[ref, id]] : [];
    }),
  );
}

async function head(scratch: Scratch, branch: string): Promise<GitAnswer> {
  const at = (await standing(scratch, [branchRef(branch)])).get(branchRef(branch));
  return at === undefined
    ? answer(404, { message: `there is no branch ${branch}` })
    : answer(200, { head: at });
}

async function find(
  scratch: Scratch,
  { branch, operation }: { readonly branch: string; readonly operation: string },
): Promise<GitAnswer> {
  const refs = await standing(scratch, [branchRef(branch), operationRef(operation)]);
  const at = refs.get(operationRef(operation));
  const branchAt = refs.get(branchRef(branch)) ?? null;
  // Beside a branch that is shown, a ref that is not shown is not there. A listing without both may be one that we may not read.
  if (at === undefined) return answer(404, { branch: branchAt, message: "no ref has this operation's name" });
  const found = await inspect(scratch, operation);
  return answer(200, { branch: branchAt, commit: at, ...says(found) });
}

/** Reads the commit at our operation's ref: only itself, where the server can send so little. */
async function inspect(scratch: Scratch, operation: string): Promise<FoundCommit> {
  await fetched(scratch, operationRef(operation), ["--filter=tree:0"]);
  return trailersOf(done(await scratch.git(["cat-file", "commit", "FETCH_HEAD"]), "cat-file"));
}

function says({ operation, digest, barred }: FoundCommit): JsonObject {
  return { operation: operation ?? null, digest: digest ?? null, barred };
}

async function fetched(scratch: Scratch, what: string, more: readonly string[]): Promise<void> {
  const argv = [
    "-c",
    `remote.origin.url=${scratch.settings.remote}`,
    "fetch",
    "--quiet",
    "--depth=1",
    "--no-tags",
  ];
  done(await scratch.git([...argv, ...more, "origin", what]), "fetch");
}

async function commit(
  scratch: Scratch,
  { branch, plan }: Extract<GitMessage, { readonly kind: "commit" }>,
  gate: () => boolean,
): Promise<GitAnswer> {
  const [branchName, operationName] = [branchRef(branch), operationRef(plan.operation)];
  const refs = await standing(scratch, [branchName, operationName]);
  if (refs.has(operationName)) return await already(scratch, plan.operation, plan.digest);
  const at = refs.get(branchName);
  if (at === undefined) return answer(404, { message: `there is no branch ${branch}` });
  if (at !== plan.parent) return answer(412, { head: at, message: `the branch stands at ${at}` });
  await fetched(scratch, plan.parent, []);
  try {
    const built = await buildCommit(scratch, plan);
    const moves = [
      { ref: branchName, expected: plan.parent },
      { ref: operationName, expected: "" },
    ];
    const pushed = await push(scratch, built, moves, gate);
    if (pushed.kind !== "answered") return pushed;
    const [onBranch, onOperation] = pushed.refs;
    if (onBranch?.is === "ok") return answer(200, { commit: built, operation: plan.operation });
    if (onOperation?.is === "ok")
      return answer(208, { commit: built, operation: plan.operation, digest: plan.digest });
    if (onOperation?.is === "up_to_date" || onOperation?.reason === STALE)
      return await already(scratch, plan.operation, plan.digest);
    return await refusal(scratch, pushed, branchName);
  } catch (error) {
    if (error instanceof TreeRefuses) return answer(422, { message: error.message });
    throw error;
  }
}

const STALE = "stale info";

/** Our operation's ref exists: by ours, by our tombstone, or by something that is neither. */
async function already(scratch: Scratch, operation: string, digest: string): Promise<GitAnswer> {
  const found = await inspect(scratch, operation);
  const commitAt = (await standing(scratch, [operationRef(operation)])).get(operationRef(operation)) ?? null;
  const body = { commit: commitAt, ...says(found) };
  if (found.operation !== operation || found.digest !== digest)
    return answer(409, { ...body, message: "this operation's ref holds another commit" });
  return found.barred
    ? answer(410, { ...body, message: "a tombstone stands in this operation's place" })
    : answer(208, body);
}

/** Every ref was refused, so nothing moved: by whom, and is it for good? */
async function refusal(
  scratch: Scratch,
  { refs }: Extract<Pushed, { readonly kind: "answered" }>,
  branchName: string,
): Promise<GitAnswer> {
  const words = refs.map(({ reason }: RefAnswer) => reason ?? "").filter((reason) => !/atomic/.test(reason));
  const message = words[0] ?? "the server took none of the refs";
  if (/hook declined|protected|denied|not permitted|hidden ref|prohibited/i.test(message))
    return answer(403, { message });
  if (message === STALE) {
    const at = (await standing(scratch, [branchName])).get(branchName) ?? null;
    return answer(412, { head: at, message: "the branch moved meanwhile" });
  }
  // A lock, a race at the server: the next attempt sees where the branch stands.
  return answer(503, { message });
}

async function bar(
  scratch: Scratch,
  message: Extract<GitMessage, { readonly kind: "bar" }>,
  gate: () => boolean,
): Promise<GitAnswer> {
  const tombstone = await buildTombstone(scratch, message);
  const moves = [{ ref: operationRef(message.operation), expected: "" }];
  const pushed = await push(scratch, tombstone, moves, gate);
  if (pushed.kind !== "answered") return pushed;
  const [only] = pushed.refs;
  if (only?.is === "ok" || only?.is === "up_to_date") return answer(200, { commit: tombstone, barred: true });
  return only?.reason === STALE
    ? await already(scratch, message.operation, message.digest)
    : answer(403, { message: only?.reason ?? "the server took no tombstone" });
}

function branchRef(branch: string): string {
  return `refs/heads/${branch}`;
}

/** One ref for each operation, created once. */
function operationRef(operation: string): string {
  return `refs/writ/${operation}`;
}
