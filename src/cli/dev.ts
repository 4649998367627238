import { join } from "node:path";
import { compose, type DevelopmentIssuer, type Writ } from "../compose.ts";
import type { Configuration } from "../config.ts";
import { migrate } from "../database/migrate.ts";
import type { Context } from "./context.ts";
import { pointedAt } from "./demo/hurry.ts";
import { SCENES } from "./demo/scenes.ts";
import { skimStory } from "./demo/story.ts";
import { shortOpening, skimmedText, verdictText } from "./demo/terminal.ts";
import { stageOn } from "./demo.ts";
import { removeDevFile, writeDevFile } from "./dev-file.ts";
import { firstTokens, issuerFile, openIssuer } from "./dev-issuer.ts";
import { type Running, readyText } from "./dev-ready.ts";
import { openShops, type Shops, stockFirstItem } from "./dev-shops.ts";
import { devConfiguration, usesExample } from "./example.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { embeddedIn } from "./ledger-database.ts";
import { peopleLog } from "./log.ts";
import { freePort, portFor } from "./port.ts";
import { type Progress, progress, slowly } from "./progress.ts";
import { type Ends, ends } from "./signals.ts";

export interface DevFlags {
  readonly port?: number;
  readonly story: boolean;
}

/** `writ dev`: a database, the example's providers, a Writ and its tokens, on this machine only, until somebody ends it. */
export async function dev(context: Context, flags: DevFlags): Promise<ExitCode> {
  const { screen } = context;
  const opened = ends();
  try {
    const running = await Promise.race([begin(context, flags, opened), opened.signalled]);
    if (running !== "signalled") {
      screen.data(readyText(screen, running));
      await opened.signalled;
    }
    screen.talk("\nwrit: stopping");
    await opened.close();
    // What was still beginning has lost its ground; nobody waits for it.
    if (running === "signalled") process.exit(EXIT.ok);
    return EXIT.ok;
  } finally {
    await opened.close();
  }
}

async function begin(context: Context, flags: DevFlags, opened: Ends): Promise<Running> {
  const { screen, folder } = context;
  const phases = progress(screen);
  try {
    const configuration = devConfiguration(context);
    const databaseUrl = await database(context, configuration, phases, opened);
    phases.end();
    if (flags.story) await openWithStory(context, databaseUrl, opened);
    phases.phase("starting Writ");
    const shops = usesExample(context) ? await shopsOf(context, databaseUrl, opened) : undefined;
    const pointed = shops === undefined ? configuration : pointedAt(configuration, shops.addresses);
    const port = (await portFor(context, flags.port, pointed.listen.port)) || (await freePort(ANY_PORT));
    const issuer = await openIssuer(context, pointed, `http://127.0.0.1:${port}`, opened);
    const writ = await composed(context, { configuration: pointed, databaseUrl, issuer }, opened);
    const { url } = await writ.listen({ host: "127.0.0.1", port });
    writ.startWorker();
    const tokens = await firstTokens(issuer, tenantOf(pointed));
    const providers = shops?.addresses;
    writeDevFile(folder, {
      url,
      pid: process.pid,
      tokens,
      issuer: issuerFile(issuer),
      ...(providers === undefined ? {} : { providers }),
    });
    await opened.opened(folder, async () => removeDevFile(folder));
    const running = { url, folder, tokens, issuer: issuer.url, configuration: pointed };
    if (providers === undefined) return running;
    const first = await stockFirstItem(databaseUrl, tenantOf(pointed));
    return { ...running, example: { first, providers } };
  } finally {
    phases.end();
  }
}

/** Always the embedded one: what is tried out here must not reach an installation's own ledger. */
async function database(
  { screen, folder }: Context,
  configuration: Configuration,
  phases: Progress,
  opened: Ends,
): Promise<string> {
  if (configuration.database !== undefined)
    screen.talk("writ: `dev` keeps to its own database in .writ/, and not to the configured one");
  const starting = slowly(phases, "starting PostgreSQL", embeddedIn(folder, "own"));
  const embedded = await opened.opened(starting, async ({ stop }) => {
    await stop();
    screen.talk("writ: the database has stopped; its data stays in .writ/");
  });
  await migrate(embedded.url);
  return embedded.url;
}

async function shopsOf({ folder, screen }: Context, databaseUrl: string, opened: Ends): Promise<Shops> {
  return opened.opened(openShops(folder, databaseUrl), async ({ close }) => {
    await close();
    screen.talk("writ: the simulated providers have closed");
  });
}

const CLOSE_WITHIN_MS = 5_000;
/** Where the system itself looks for a free port. */
const ANY_PORT = 49_152;

interface Composed {
  readonly configuration: Configuration;
  readonly databaseUrl: string;
  readonly issuer: DevelopmentIssuer;
}

async function composed(
  { screen, folder }: Context,
  { configuration: given, databaseUrl, issuer }: Composed,
  opened: Ends,
): Promise<Writ> {
  const home = join(folder, ".writ");
  // It is reached where it listens, whatever the installation's own address is.
  const { publicUrl: _elsewhere, ...configuration } = given;
  const issuers = [issuer.issuer];
  const writ = compose({
    configuration,
    databaseUrl,
    home,
    log: peopleLog(screen),
    issuers,
    environment: "development",
  });
  return opened.opened(writ, async ({ close }) => {
    await close(CLOSE_WITHIN_MS);
    screen.talk("writ: the worker and the HTTP door have ended; what was in hand is in the ledger");
  });
}

/** The story in its short form, on a database of its own on the same server. */
async function openWithStory({ screen }: Context, serverUrl: string, opened: Ends): Promise<void> {
  const { paint, data } = screen;
  const { stage, close } = await opened.opened(stageOn(serverUrl), (set) => set.close());
  try {
    data(`${shortOpening(screen)}\n`);
    const report = await skimStory(stage, SCENES, (scene) => data(skimmedText(screen, scene)));
    data(`\n${verdictText(screen, report)}\n${paint.dim("   `writ demo` tells it in full.")}`);
  } finally {
    await close();
  }
}

function tenantOf({ tenants }: Configuration): Configuration["tenants"][number] {
  const [tenant] = tenants;
  if (tenant === undefined) throw new Error("a configuration has a tenant");
  return tenant;
}
