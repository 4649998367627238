import type { Scratch } from "./scratch.ts";

/** What the server, or our git before it sent anything, said of one ref. */
export interface RefAnswer {
  readonly is: "ok" | "up_to_date" | "rejected" | "remote_rejected";
  readonly reason?: string;
}

/** How a push ended. */
export type Pushed =
  | { readonly kind: "unsent"; readonly why: string }
  | { readonly kind: "silent"; readonly cause: string }
  /** Every ref that was pushed has an answer. */
  | { readonly kind: "answered"; readonly refs: readonly RefAnswer[] };

/** One ref to be moved: created when nothing is expected there. */
export interface RefMove {
  readonly ref: string;
  readonly expected: string;
}

/**
 * Moves the refs to one commit, together or not at all, each only from where it is expected to stand. The gate is asked immediately
 * before the process begins; what is not answered for every ref afterwards is silence, whatever the process says.
 */
export async function push(
  scratch: Scratch,
  commit: string,
  moves: readonly RefMove[],
  gate: () => boolean,
): Promise<Pushed> {
  const argv = [
    "push",
    "--atomic",
    "--porcelain",
    "--no-verify",
    "--no-progress",
    ...moves.map(({ ref, expected }) => `--force-with-lease=${ref}:${expected}`),
    scratch.settings.remote,
    ...moves.map(({ ref }) => `${commit}:${ref}`),
  ];
  if (scratch.signal.aborted) return { kind: "unsent", why: "its time was over before it was sent" };
  if (!gate()) return { kind: "unsent", why: "the send gate was closed" };
  const run = await scratch.git(argv);
  const answers = porcelain(run.stdout.toString("utf8"), commit);
  const refs = moves.map(({ ref }) => answers.get(ref));
  if (run.code !== null && run.code <= 1 && refs.every((answer) => answer !== undefined)) {
    const moved = refs.filter((answer) => answer?.is === "ok" || answer?.is === "up_to_date").length;
    // A server that moved one and not the other does not do what --atomic says: nobody knows what stands there.
    if (moved === (run.code === 0 ? refs.length : 0)) return { kind: "answered", refs: refs as RefAnswer[] };
  }
  if (run.code === 128 && /does not support --atomic push/.test(run.stderr))
    return { kind: "unsent", why: "the server does not take several refs together (--atomic)" };
  return {
    kind: "silent",
    cause: run.stopped ?? `git push ended with ${run.code}: ${lastWords(run.stderr)}`,
  };
}

// git-push(1), OUTPUT: flag, tab, from:to, tab, summary and reason.
const LINE = /^([ +\-*!=])\t([0-9a-f]{40}):(\S+)\t(.*)$/;

function porcelain(text: string, commit: string): ReadonlyMap<string, RefAnswer> {
  const answers = new Map<string, RefAnswer>();
  for (const line of text.split("\n")) {
    const [, flag = "", from, ref = "", summary = ""] = LINE.exec(line) ?? [];
    const answer = from === commit ? answerOf(flag, summary) : undefined;
    if (answer !== undefined) answers.set(ref, answer);
  }
  return answers;
}

function answerOf(flag: string, summary: string): RefAnswer | undefined {
  if (flag === "=") return { is: "up_to_date" };
  if (flag !== "!") return { is: "ok" };
  const [, kind, reason = ""] = /^\[(rejected|remote rejected)\](?: \((.*)\))?$/.exec(summary) ?? [];
  // "[remote failure]" is a server that did not report: no answer.
  if (kind === undefined) return undefined;
  return { is: kind === "rejected" ? "rejected" : "remote_rejected", reason: reason.slice(0, 300) };
}

function lastWords(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  return (lines.find((line) => /(fatal|error):/.test(line)) ?? lines.at(-1) ?? "without a word").slice(
    0,
    300,
  );
}
