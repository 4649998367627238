import { expect } from "vitest";
import { needs } from "../support/needs.ts";
import { eximDovecot } from "./exim-dovecot.ts";
import { gitDaemon } from "./git-daemon.ts";
import { accepts } from "./launch.ts";

needs(gitDaemon)("git daemon answers on its own port, and is gone after its stop", async () => {
  const running = await gitDaemon.start();

  const before = await accepts(running.port);
  await running.stop();
  await running.stop();

  expect(before).toBe(true);
  expect(await accepts(running.port)).toBe(false);
});

needs(eximDovecot)("Exim and Dovecot answer on their own ports, and are gone after their stop", async () => {
  const running = await eximDovecot.start();
  const ports = [running.smtpPort, running.imapPort];

  const before = await Promise.all(ports.map(accepts));
  await running.stop();
  await running.stop();

  expect(before).toEqual([true, true]);
  expect(await Promise.all(ports.map(accepts))).toEqual([false, false]);
});
