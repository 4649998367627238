import { mkdirSync, writeFileSync } from "node:fs";
import { accessLog, type Logged } from "./access-log.ts";
import { answers, freePort, launch, own, serverFolder } from "./launch.ts";
import { lacks, type RealServer, type Stoppable } from "./server.ts";

const MODULES = "/usr/lib/apache2/modules";
const LOADED = ["mpm_event", "authz_core", "dav", "dav_fs"];

/** A file server over HTTP that can be looked at from behind. */
export interface DavServer extends Stoppable {
  /** Documents live beneath it. */
  readonly url: string;
  /** The folder that holds them on disk. */
  readonly documents: string;
  /** What the server answered so far, in its own words. */
  readonly requests: () => readonly Logged[];
}

/** Apache httpd with mod_dav and nothing else. */
export const apacheDav: RealServer<DavServer> = {
  name: "Apache mod_dav",
  installed: () => lacks("apache2", "apache2", `${MODULES}/mod_dav_fs.so`),
  start: async () => {
    const folder = serverFolder("apache");
    const port = await freePort();
    const documents = `${folder}/documents`;
    mkdirSync(documents);
    own(documents);
    const file = `${folder}/httpd.conf`;
    writeFileSync(file, configuration(folder, port));
    const url = `http://127.0.0.1:${port}`;
    const { stop } = await launch({
      program: "apache2",
      args: ["-D", "FOREGROUND", "-f", file],
      folder,
      ready: () => answers(`${url}/`),
    });
    return { url, documents, requests: () => accessLog(`${folder}/access.log`), stop };
  },
};

function configuration(folder: string, port: number): string {
  return [
    `ServerRoot ${folder}`,
    "ServerName 127.0.0.1",
    `Listen 127.0.0.1:${port}`,
    `PidFile ${folder}/httpd.pid`,
    `DefaultRuntimeDir ${folder}`,
    `ErrorLog ${folder}/error.log`,
    `CustomLog ${folder}/access.log "%m %U %>s %{User-Agent}i"`,
    ...LOADED.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`),
    `DocumentRoot ${folder}/documents`,
    `DavLockDB ${folder}/locks`,
    "LimitRequestBody 1048576",
    "Timeout 20",
    // Two processes: a check and a write of one request may stand between those of another.
    "StartServers 2",
    "ServerLimit 2",
    "ThreadsPerChild 16",
    "MaxRequestWorkers 32",
    `<Directory ${folder}/documents>`,
    "  Dav On",
    "  Require all granted",
    "</Directory>",
    "",
  ].join("\n");
}
