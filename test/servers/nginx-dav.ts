import { mkdirSync, writeFileSync } from "node:fs";
import { accessLog } from "./access-log.ts";
import type { DavServer } from "./apache-dav.ts";
import { answers, freePort, launch, own, serverFolder } from "./launch.ts";
import { lacks, type RealServer } from "./server.ts";

/**
 * nginx with its dav module: it shows an ETag on every GET and ignores If-Match on every PUT. The server that says less than it seems to.
 */
export const nginxDav: RealServer<DavServer> = {
  name: "nginx dav",
  installed: () => lacks("nginx-light", "nginx"),
  start: async () => {
    const folder = serverFolder("nginx");
    const port = await freePort();
    const documents = `${folder}/documents`;
    for (const path of [documents, `${folder}/scratch`]) {
      mkdirSync(path);
      own(path);
    }
    const file = `${folder}/nginx.conf`;
    writeFileSync(file, configuration(folder, port));
    const url = `http://127.0.0.1:${port}`;
    const { stop } = await launch({
      program: "nginx",
      args: ["-p", folder, "-c", file, "-e", `${folder}/error.log`],
      folder,
      signal: "SIGQUIT",
      ready: () => answers(`${url}/`),
    });
    return { url, documents, requests: () => accessLog(`${folder}/access.log`), stop };
  },
};

function configuration(folder: string, port: number): string {
  const scratch = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `  ${name}_temp_path ${folder}/scratch;`,
  );
  return [
    "daemon off;",
    "worker_processes 2;",
    `pid ${folder}/nginx.pid;`,
    `error_log ${folder}/error.log;`,
    "events { worker_connections 128; }",
    "http {",
    ...scratch,
    `  log_format plain "$request_method $uri $status $http_user_agent";`,
    `  access_log ${folder}/access.log plain;`,
    "  client_max_body_size 1m;",
    "  server {",
    `    listen 127.0.0.1:${port};`,
    `    root ${folder}/documents;`,
    "    location / { dav_methods PUT DELETE; create_full_put_path on; }",
    "  }",
    "}",
    "",
  ].join("\n");
}
