// A part of the bench in a process of its own, so that its processor time and memory are its own.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const ANSWER_MAX_MS = 120_000;

/** Starts `file` with `options`; `ask` gives one question to its `answer`. */
export async function start(file, options = {}, execArgv = []) {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [JSON.stringify(options)], { execArgv });
  const waiting = new Map();
  let last = 0;
  child.on("message", ({ id, answer, error }) => {
    waiting.get(id)?.(error === undefined ? { answer } : { error });
    waiting.delete(id);
  });
  child.on("exit", (code) => {
    for (const tell of waiting.values()) tell({ error: `${file} ended with ${code}` });
    waiting.clear();
  });
  const ask = (question) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      const late = setTimeout(() => waiting.get(id)?.({ error: `${file} does not answer` }), ANSWER_MAX_MS);
      waiting.set(id, ({ answer, error }) => {
        clearTimeout(late);
        if (error === undefined) resolve(answer);
        else reject(new Error(error));
      });
      child.send({ id, question });
    });
  const ready = await ask({ ready: true });
  return {
    pid: child.pid,
    ready,
    ask,
    end: async () => {
      if (child.exitCode !== null) return;
      const gone = new Promise((resolve) => child.once("exit", resolve));
      await ask({ end: true }).catch(() => undefined);
      child.disconnect();
      await gone;
    },
  };
}

/** In the child: `open(options)` resolves with the answers by name of question; `ready` is the first, `end` the last. */
export async function serve(open) {
  const opened = open(JSON.parse(process.argv[2]));
  process.on("message", async ({ id, question }) => {
    try {
      const answers = { cost: () => cost(), ...(await opened) };
      const [name] = Object.keys(question);
      process.send({ id, answer: await answers[name]?.(question[name]) });
    } catch (error) {
      process.send({ id, error: String(error?.stack ?? error) });
    }
  });
  process.on("disconnect", () => process.exit(0));
}

/** Processor time so far and memory now. */
function cost() {
  const { user, system } = process.cpuUsage();
  return { cpuUs: user + system, rssMb: process.memoryUsage.rss() / 2 ** 20 };
}
