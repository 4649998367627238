import { Problem } from "../../core/problem.ts";
import { done, type Scratch } from "./scratch.ts";

/** One file of a commit. Without content it is removed. */
export interface CommitFile {
  readonly path: string;
  readonly content?: Uint8Array;
}

export interface CommitPlan {
  /** The commit that ours stands on: the version that was authorized. */
  readonly parent: string;
  readonly files: readonly CommitFile[];
  readonly message: string;
  readonly operation: string;
  readonly digest: string;
  /** RFC 3339. */
  readonly at: string;
}

const OPERATION_TRAILER = "Writ-Operation";
const DIGEST_TRAILER = "Writ-Digest";
const BARRIER_TRAILER = "Writ-Barrier";

/** Files that cannot be written onto the tree as it is. The same parent gives the same "no" for ever. */
export class TreeRefuses extends Error {
  override readonly name = "TreeRefuses";
}

/**
 * Writes the commit into the scratch repository and gives its id. Parent, files, words, people and time come from the stored action and
 * the pinned settings, so that every attempt of one operation builds the same id, and no other operation ever does.
 */
export async function buildCommit(scratch: Scratch, plan: CommitPlan): Promise<string> {
  const tree = await treeOf(scratch, plan);
  const lines = [`tree ${tree}`, `parent ${plan.parent}`, ...signatures(scratch, plan.at)];
  const trailers = [`${OPERATION_TRAILER}: ${plan.operation}`, `${DIGEST_TRAILER}: ${plan.digest}`];
  return writeObject(
    scratch,
    "commit",
    `${lines.join("\n")}\n\n${words(plan.message)}\n\n${trailers.join("\n")}\n`,
  );
}

/** A commit without parent and files that says: this operation never happens. */
export async function buildTombstone(
  scratch: Scratch,
  { operation, digest, at }: Pick<CommitPlan, "operation" | "digest" | "at">,
): Promise<string> {
  const tree = await writeObject(scratch, "tree", "");
  const lines = [`tree ${tree}`, ...signatures(scratch, at)];
  const trailers = [
    `${OPERATION_TRAILER}: ${operation}`,
    `${DIGEST_TRAILER}: ${digest}`,
    `${BARRIER_TRAILER}: raised`,
  ];
  return writeObject(
    scratch,
    "commit",
    `${lines.join("\n")}\n\nWrit: ${operation} must not happen\n\n${trailers.join("\n")}\n`,
  );
}

function signatures({ settings }: Scratch, at: string): readonly string[] {
  const seconds = Math.floor(Date.parse(at) / 1000);
  const who = `${settings.author.name} <${settings.author.email}> ${seconds} +0000`;
  return [`author ${who}`, `committer ${who}`];
}

/** The trailers are ours alone: a message cannot bring its own, because nothing but ours stands in the last paragraph. */
function words(message: string): string {
  const text = message.replaceAll("\r\n", "\n").trimEnd();
  if (text === "" || text.length > 20_000 || !text.isWellFormed() || /[^\P{Cc}\n\t]/u.test(text))
    throw new Problem("invalid", "the commit's message is empty, too long, or holds control characters");
  return text;
}

async function treeOf(scratch: Scratch, plan: CommitPlan): Promise<string> {
  const environment = { GIT_INDEX_FILE: `${scratch.folder}/writ-index` };
  done(await scratch.git(["read-tree", plan.parent], { environment }), "read-tree");
  const modes = await modesOf(scratch, plan);
  const entries: string[] = [];
  for (const { path, content } of plan.files) {
    const mode = modes.get(path);
    if (content === undefined) {
      if (mode === undefined) throw new TreeRefuses(`${path} is to be removed and is not there`);
      entries.push(`0 ${"0".repeat(40)}\t${path}\0`);
    } else {
      const blob = await writeObject(scratch, "blob", content);
      entries.push(`${mode ?? "100644"} ${blob}\t${path}\0`);
    }
  }
  const input = entries.join("");
  const updated = await scratch.git(["update-index", "-z", "--index-info"], { environment, input });
  if (updated.code !== 0 && updated.stopped === undefined)
    throw new TreeRefuses("a file is to stand where a folder stands, or under another file");
  done(updated, "update-index");
  return done(await scratch.git(["write-tree"], { environment }), "write-tree").trim();
}

/** How the files stand in the parent. Only plain files may be written over: not links, not folders, not other repositories. */
async function modesOf(
  scratch: Scratch,
  { parent, files }: CommitPlan,
): Promise<ReadonlyMap<string, string>> {
  const paths = files.map(({ path }) => path);
  // git's index would quietly drop a file to make room for a folder of its name, and that nobody authorized.
  for (const folders of foldersByDepth(paths)) {
    for (const [path, mode] of await listed(scratch, parent, folders))
      if (mode !== "040000") throw new TreeRefuses(`${path} is not a folder there`);
  }
  const modes = await listed(scratch, parent, paths);
  for (const [path, mode] of modes)
    if (mode !== "100644" && mode !== "100755") throw new TreeRefuses(`${path} is not a plain file there`);
  return modes;
}

/** `ls-tree` shows a folder as itself only while nothing beneath it is asked for: one question for each depth. */
function foldersByDepth(paths: readonly string[]): readonly (readonly string[])[] {
  const levels: Set<string>[] = [];
  for (const path of paths) {
    const steps = path.split("/");
    for (let depth = 1; depth < steps.length; depth++) {
      levels[depth - 1] ??= new Set();
      levels[depth - 1]?.add(steps.slice(0, depth).join("/"));
    }
  }
  return levels.map((level) => [...level]);
}

async function listed(
  scratch: Scratch,
  parent: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const argv = ["--literal-pathspecs", "ls-tree", "-z", "--full-tree", parent, "--", ...paths];
  const lines = done(await scratch.git(argv), "ls-tree").split("\0");
  return new Map(
    lines.flatMap((line): [string, string][] => {
      const [head = "", path = ""] = line.split("\t");
      return line === "" ? [] : [[path, head.split(" ")[0] ?? ""]];
    }),
  );
}

async function writeObject(
  scratch: Scratch,
  type: "blob" | "tree" | "commit",
  input: string | Uint8Array,
): Promise<string> {
  return done(
    await scratch.git(["hash-object", "-t", type, "-w", "--stdin"], { input }),
    "hash-object",
  ).trim();
}

/** What a commit that was found says of itself. */
export interface FoundCommit {
  readonly operation?: string;
  readonly digest?: string;
  readonly barred: boolean;
}

/** Reads the trailers: the last paragraph, of which only whole lines count. */
export function trailersOf(commit: string): FoundCommit {
  const last = commit.trimEnd().split("\n\n").at(-1) ?? "";
  const lines = last.split("\n").map((line) => /^([A-Za-z-]+): (\S+)$/.exec(line));
  const one = (name: string): string | undefined => {
    const found = lines.filter((line) => line?.[1] === name);
    return found.length === 1 ? found[0]?.[2] : undefined;
  };
  const operation = one(OPERATION_TRAILER);
  const digest = one(DIGEST_TRAILER);
  return {
    ...(operation === undefined ? {} : { operation }),
    ...(digest === undefined ? {} : { digest }),
    barred: one(BARRIER_TRAILER) === "raised",
  };
}
