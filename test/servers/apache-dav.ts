import { mkdirSync, writeFileSync } from "node:fs";
import { answers, freePort, launch, own, serverFolder } from "./launch.ts";
import { lacks, type RealServer, type Stoppable } from "./server.ts";

const MODULES = "/usr/lib/apache2/modules";
const LOADED = ["mpm_event", "authz_core", "dav", "dav_fs"];

/** Apache httpd with mod_dav and nothing else. Documents live under `url`; `documents` is the folder that holds them on disk. */
export const apacheDav: RealServer<Stoppable & { readonly url: string; readonly documents: string }> = {
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
    return { url, documents, stop };
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
