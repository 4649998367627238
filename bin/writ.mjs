#!/usr/bin/env node
// The command. In a checkout it first makes what is missing; a packed copy carries dist and no src.
import { existsSync } from "node:fs";

if (existsSync(new URL("../src", import.meta.url))) {
  const { bootstrap } = await import("./bootstrap.mjs");
  bootstrap();
}
await import("../dist/cli/main.js");
