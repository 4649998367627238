import { writeFileSync } from "node:fs";
import { accepts, freePort, launch, own, serverFolder } from "./launch.ts";
import { lacks, type RealServer, type Stoppable } from "./server.ts";

export interface Credentialed {
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

/** NATS with JetStream, alone, for one user with a password. */
export const nats: RealServer<Stoppable & Credentialed> = {
  name: "NATS",
  installed: () => lacks("nats-server", "nats-server"),
  start: async () => {
    const folder = serverFolder("nats");
    const port = await freePort();
    const [user, password] = ["writ", "a password of this test"];
    const file = `${folder}/nats.conf`;
    writeFileSync(file, configuration(folder, port, { user, password }));
    own(file);
    const { stop } = await launch({
      program: "nats-server",
      args: ["-c", file],
      folder,
      ready: () => accepts(port),
    });
    return { url: `nats://127.0.0.1:${port}`, user, password, stop };
  },
};

function configuration(folder: string, port: number, { user, password }: Omit<Credentialed, "url">): string {
  return [
    `listen: "127.0.0.1:${port}"`,
    `jetstream { store_dir: "${folder}/data", max_memory_store: 64MB, max_file_store: 256MB }`,
    `authorization { user: "${user}", password: "${password}" }`,
    "",
  ].join("\n");
}
