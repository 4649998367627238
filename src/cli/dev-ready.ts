import type { Configuration } from "../config.ts";
import { devFilePath, type Person } from "./dev-file.ts";
import type { FirstItem } from "./dev-shops.ts";
import type { Screen } from "./screen.ts";

/** What is up, for the page that says so. */
export interface Running {
  readonly url: string;
  readonly folder: string;
  readonly tokens: Readonly<Record<Person, string>>;
  readonly issuer: string;
  readonly configuration: Configuration;
  /** Set with the example: something to change at once, and where the providers are. */
  readonly example?: { readonly first: FirstItem; readonly providers: Readonly<Record<string, string>> };
}

const NAME_WIDTH = 9;

/** What is up, and the one command that shows that it works. */
export function readyText({ paint }: Screen, running: Running): string {
  const { url, folder, tokens, issuer, configuration, example } = running;
  const row = (name: string, value: string): string => `   ${paint.dim(name.padEnd(NAME_WIDTH))}${value}`;
  return [
    "",
    `${paint.green("✓")}  ${paint.bold("Writ is running")}`,
    "",
    row("url", paint.cyan(url)),
    row("api", `${url}/docs, ${url}/openapi.json`),
    row("tools", configuration.tools.map(({ name }) => name).join(", ")),
    ...Object.entries(example?.providers ?? {}).map(([name, at]) =>
      row(name, `${at}  ${paint.dim("simulated; its effects: /__writ/journal")}`),
    ),
    row(
      "issuer",
      `${issuer}  ${paint.yellow("for development: anybody on this machine may be ada, ben or cleo")}`,
    ),
    row("login", `${url}/login`),
    row("token", `below, for 24 h; all are in ${devFilePath(folder)}`),
    "",
    `${paint.bold("Try it:")} ${example === undefined ? "paste this to see what is offered" : "paste this, twice if you like: the second time is a replay"}`,
    "",
    example === undefined
      ? toolsCommand(url, tokens.agent)
      : proposeCommand(url, tokens.agent, example.first),
    "",
    row("then", "writ op ls · writ op explain <operation> · writ --help"),
    row("", paint.dim("(in a checkout: npx --no-install writ …)")),
    row("Ctrl-C", "stops; the data stays"),
    "",
  ].join("\n");
}

function proposeCommand(url: string, token: string, first: FirstItem): string {
  const { warehouse, item, version, intentKey } = first;
  const body = JSON.stringify({
    tool: "inventory.set_available",
    arguments: { warehouse, item, available: 18 },
    expectedVersion: String(version),
  });
  return [
    `curl -sS -w '\\n' ${url}/v1/operations \\`,
    `  -H 'Authorization: Bearer ${token}' \\`,
    `  -H 'Idempotency-Key: ${intentKey}' \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '${body}'`,
  ].join("\n");
}

function toolsCommand(url: string, token: string): string {
  return [`curl -sS -w '\\n' ${url}/v1/tools \\`, `  -H 'Authorization: Bearer ${token}'`].join("\n");
}
