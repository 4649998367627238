import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { EXIT } from "../../src/cli/exit.ts";
import { ended, folder, paste, removeFolder, startDev, writ } from "./command.ts";

const TIMEOUT_MS = 240_000;

test(
  "what dev printed works, survives kill -9, and works again; a second dev says one sentence",
  async () => {
    const cwd = folder();
    onTestFinished(() => removeFolder(cwd));
    const first = await startDev(cwd);
    onTestFinished(() => void first.child.kill("SIGKILL"));

    const once_ = JSON.parse((await paste(first.command)).stdout);
    const twice = JSON.parse((await paste(first.command)).stdout);
    const second = await writ(["dev"], { cwd });
    const gone = once(first.child, "exit");
    first.child.kill("SIGKILL");
    await gone;

    expect(first.heard.stdout).toContain("counts at the providers are what the story says");
    expect(JSON.stringify(once_)).toContain('"state":"succeeded"');
    expect(twice).toMatchObject({ operationId: once_.operationId, how: "replayed", state: "succeeded" });
    expect(second.status).toBe(EXIT.error);
    expect(second.stdout).toBe("");
    expect(second.stderr.trim().split("\n")).toHaveLength(1);
    expect(second.stderr).toContain(`process ${first.child.pid}`);

    const again = await startDev(cwd, "--no-story");
    const kept = await writ(["op", "show", once_.operationId, "-o", "json"], { cwd });
    const fresh = JSON.parse((await paste(again.command)).stdout);
    const replayed = JSON.parse((await paste(sameKey(first.command, again.command))).stdout);
    const end = ended(again.child);
    again.child.kill("SIGINT");
    const { status, stderr } = await end;

    expect(JSON.parse(kept.stdout)).toMatchObject({
      state: "succeeded",
      attempts: [{ learned: "confirmed" }],
    });
    expect(fresh).toMatchObject({ state: "succeeded", how: "opened" });
    expect(fresh.operationId).not.toBe(once_.operationId);
    expect(replayed).toMatchObject({ operationId: once_.operationId, how: "replayed" });
    expect(status).toBe(EXIT.ok);
    expect(stderr).toMatch(/HTTP door have ended[\s\S]*providers have closed[\s\S]*database has stopped/);
    expect(existsSync(join(cwd, ".writ", "dev.json"))).toBe(false);
  },
  TIMEOUT_MS,
);

test(
  "SIGTERM ends it as Ctrl-C does, and the data is there for the next start",
  async () => {
    const cwd = folder();
    onTestFinished(() => removeFolder(cwd));
    const dev = await startDev(cwd, "--no-story");
    const end = ended(dev.child);
    dev.child.kill("SIGTERM");

    expect((await end).status).toBe(EXIT.ok);
    const doctor = await writ(["doctor", "-o", "json"], { cwd });
    expect(doctor.status).toBe(EXIT.ok);
  },
  TIMEOUT_MS,
);

/** The first start's command, said to the second start's address with its token. */
function sameKey(first: string, second: string): string {
  const address = /https?:\/\/[^/]+/;
  const token = /Bearer [^']+/;
  return first
    .replace(address, address.exec(second)?.[0] ?? "")
    .replace(token, token.exec(second)?.[0] ?? "");
}
