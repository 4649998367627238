import { writeFileSync } from "node:fs";
import { answers, freePort, launch, serverFolder } from "./launch.ts";
import { lacks, type RealServer, type Stoppable } from "./server.ts";

/** Radicale, open to everybody, with one empty calendar at `url`: an entry is a PUT of iCalendar text beneath it. */
export const radicale: RealServer<Stoppable & { readonly url: string }> = {
  name: "Radicale",
  installed: () => lacks("radicale", "radicale"),
  start: async () => {
    const folder = serverFolder("radicale");
    const port = await freePort();
    const file = `${folder}/radicale.conf`;
    writeFileSync(file, configuration(folder, port));
    writeFileSync(`${folder}/rights`, "[everybody]\nuser: .*\ncollection: .*\npermissions: RrWw\n");
    const root = `http://127.0.0.1:${port}`;
    const { stop } = await launch({
      program: "radicale",
      args: ["-C", file],
      folder,
      ready: () => answers(`${root}/.web/`),
    });
    const url = `${root}/calendar`;
    const made = await fetch(`${url}/`, { method: "MKCALENDAR", signal: AbortSignal.timeout(10_000) });
    await made.arrayBuffer();
    if (made.status !== 201) {
      await stop();
      throw new Error(`Radicale made no calendar: ${made.status}`);
    }
    return { url, stop };
  },
};

function configuration(folder: string, port: number): string {
  return [
    "[server]",
    `hosts = 127.0.0.1:${port}`,
    "max_connections = 32",
    "timeout = 20",
    "[auth]",
    "type = none",
    "[rights]",
    "type = from_file",
    `file = ${folder}/rights`,
    "[storage]",
    `filesystem_folder = ${folder}/collections`,
    "",
  ].join("\n");
}
