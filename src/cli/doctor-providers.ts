import { connect as connectTcp } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Configuration, HttpProvider } from "../config.ts";
import { LEDGER } from "../core/transport.ts";
import { type Check, ok, warn } from "./check.ts";
import { markerCheck } from "./doctor-marker.ts";

const REACHED_WITHIN_MS = 3_000;

/** Whether each provider can be spoken to. Nothing is asked of it: a connection is opened, and closed. */
export async function providerChecks({ providers }: Configuration): Promise<readonly Check[]> {
  return Promise.all(
    Object.entries(providers).map(async ([name, { transport, settings }]): Promise<Check> => {
      if (transport === LEDGER) return ok("provider", `${name} lives in the ledger's own database`);
      if (transport === "postgres") return markerCheck(name, settings.url);
      if (transport !== "http")
        return ok("provider", `${name} is spoken to over ${transport}; it was not asked`);
      const why = await unreachable(settings);
      return why === undefined
        ? ok("provider", `${name} answers at ${settings.base}`)
        : warn(
            "provider",
            `${name} does not answer at ${settings.base}: ${why}`,
            "What is proposed there waits and is sent when it answers again, while its permission lasts.",
          );
    }),
  );
}

function unreachable({ base, ca }: HttpProvider): Promise<string | undefined> {
  const { protocol, hostname, port } = new URL(base);
  const host = hostname.replace(/^\[|\]$/g, "");
  const secure = protocol === "https:";
  const at = { host, port: port === "" ? (secure ? 443 : 80) : Number(port), timeout: REACHED_WITHIN_MS };
  return new Promise((resolve) => {
    const socket = secure
      ? connectTls({ ...at, servername: host, ...(ca === undefined ? {} : { ca }) })
      : connectTcp(at);
    const end = (why: string | undefined) => {
      socket.destroy();
      resolve(why);
    };
    socket.once(secure ? "secureConnect" : "connect", () => end(undefined));
    socket.once("timeout", () => end(`no connection within ${REACHED_WITHIN_MS / 1000} s`));
    socket.once("error", (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}
