import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { selfSigned } from "../connectors/certificate.ts";
import type { GitRepository } from "./git-daemon.ts";
import type { Stoppable } from "./server.ts";

export interface GitHttps extends Stoppable {
  /** `https://localhost:…`; whatever lies under `/elsewhere` sends its askers to the repository itself. */
  readonly url: string;
  readonly ca: string;
  /** How often somebody asked without the credential. */
  strangers(): number;
}

/** A repository over smart HTTP: git's own backend, inside of TLS, for those who bring the credential. */
export async function gitHttps(repository: GitRepository, authorization: string): Promise<GitHttps> {
  const { key, cert } = selfSigned("localhost");
  let strangers = 0;
  const server = createServer({ key, cert }, (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "https://localhost");
    if (request.headers.authorization !== authorization) {
      strangers += 1;
      response.writeHead(401, { "www-authenticate": "Basic" }).end();
    } else if (pathname.startsWith("/elsewhere/")) {
      response.writeHead(302, { location: (request.url ?? "").replace("/elsewhere/", "/") }).end();
    } else backend(repository, request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return {
    url: `https://localhost:${port}`,
    ca: cert,
    strangers: () => strangers,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** git-http-backend(1) is a CGI program (RFC 3875). */
function backend({ folder }: GitRepository, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? "/", "https://localhost");
  const execPath = execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim();
  const child = spawn(`${execPath}/git-http-backend`, [], {
    env: {
      PATH: process.env.PATH ?? "",
      GIT_PROJECT_ROOT: dirname(folder),
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method ?? "GET",
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      REMOTE_USER: "writ",
    },
    ...(process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}),
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => void chunks.push(chunk));
  child.stdin.on("error", () => undefined);
  request.pipe(child.stdin);
  child.once("close", () => {
    const whole = Buffer.concat(chunks);
    const end = whole.indexOf("\r\n\r\n");
    const headers = whole.subarray(0, end).toString("latin1").split("\r\n");
    const fields = headers.map((line) => /^([^:]+): (.*)$/.exec(line)?.slice(1) ?? []);
    const status = fields.find(([name]) => name === "Status")?.[1] ?? "200";
    for (const [name = "", value = ""] of fields)
      if (name !== "" && name !== "Status") response.setHeader(name, value);
    response.writeHead(Number.parseInt(status, 10)).end(whole.subarray(end + 4));
  });
}
