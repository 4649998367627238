import type { Configuration } from "../config.ts";
import { type Check, fail, ok, warn } from "./check.ts";
import type { Context } from "./context.ts";
import { databaseChecks } from "./doctor-database.ts";
import { fileChecks } from "./doctor-files.ts";
import { issuerChecks } from "./doctor-issuers.ts";
import { providerChecks } from "./doctor-providers.ts";
import { devConfiguration, usesExample } from "./example.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { wrapped } from "./print.ts";
import { progress } from "./progress.ts";
import type { Screen } from "./screen.ts";

/** `writ doctor`: looks at everything that a promise rests on, changes nothing, and says how to mend what is wrong. */
export async function doctor(context: Context): Promise<ExitCode> {
  const { screen } = context;
  const waiting = progress(screen);
  waiting.phase("looking");
  const checks = await examined(context).finally(() => waiting.end());
  const bad = checks.filter(({ verdict }) => verdict === "fail");
  if (!screen.machine(checks)) {
    for (const check of checks) screen.data(checkText(screen, check));
    const warned = checks.filter(({ verdict }) => verdict === "warn").length;
    screen.talk("");
    screen.talk(`${bad.length} to mend, ${warned} to know, ${checks.length - bad.length - warned} well`);
  }
  return bad.length === 0 ? EXIT.ok : EXIT.error;
}

async function examined(context: Context): Promise<readonly Check[]> {
  const first = [nodeCheck(process.versions.node)];
  const configuration = configured(context);
  if ("verdict" in configuration) return [...first, configuration, ...fileChecks(context.folder)];
  return [
    ...first,
    usesExample(context)
      ? warn(
          "configuration",
          "there is no writ.yaml here: the example is looked at",
          "Write one, or stay with `writ dev`.",
        )
      : ok(
          "configuration",
          `${configuration.tools.length} tools at ${Object.keys(configuration.providers).length} providers`,
        ),
    ...toolChecks(configuration),
    ...(await databaseChecks(context, configuration)),
    ...fileChecks(context.folder),
    ...(await issuerChecks(configuration)),
    ...(await providerChecks(configuration)),
  ];
}

/** The configuration, or the one mistake in it. */
function configured(context: Context): Configuration | Check {
  try {
    return devConfiguration(context);
  } catch (error) {
    const says = error instanceof Error ? error.message : String(error);
    return fail(
      "configuration",
      says,
      "Mend that line; nothing of the configuration is used until it is whole.",
    );
  }
}

const NODE_LEAST = [20, 19] as const;

function nodeCheck(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const good = major > NODE_LEAST[0] || (major === NODE_LEAST[0] && minor >= NODE_LEAST[1]);
  return good
    ? ok("node", version)
    : fail("node", `${version} is too old`, `Use Node ${NODE_LEAST.join(".")} or later.`);
}

/** What nobody is asked about is the operator's own choice; it should be a known one. */
function toolChecks({ tools }: Configuration): readonly Check[] {
  const free = tools.filter(({ autonomy }) => autonomy === "allowed").map(({ name }) => name);
  return free.length === 0
    ? []
    : [
        warn(
          "autonomy",
          `nobody is asked about ${free.join(", ")}`,
          "That is `autonomy: allowed` in their files; `drilled` and `never` ask a person.",
        ),
      ];
}

const NAME_WIDTH = 15;
const WORD_WIDTH = 6;

function checkText(screen: Screen, { verdict, name, says, mend }: Check): string {
  const { paint } = screen;
  const colour = verdict === "ok" ? paint.green : verdict === "warn" ? paint.yellow : paint.red;
  const room = screen.width - NAME_WIDTH - WORD_WIDTH;
  const lines = [
    ...wrapped(says, room),
    ...(mend === undefined ? [] : wrapped(mend, room).map((line) => paint.dim(line))),
  ];
  return lines
    .map((line, index) =>
      index === 0
        ? colour(verdict.padEnd(WORD_WIDTH)) + name.padEnd(NAME_WIDTH) + line
        : " ".repeat(WORD_WIDTH + NAME_WIDTH) + line,
    )
    .join("\n");
}
