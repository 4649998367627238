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
  start: () => startNats(),
};

export interface NatsChoices {
  /** Spoken inside of TLS, with this certificate. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** A second user, "limited" with the same password, who may publish to these subjects and hear answers. */
  readonly mayPublish?: readonly string[];
}

/** The same with more to it. */
export async function startNats({ tls, mayPublish }: NatsChoices = {}): Promise<Stoppable & Credentialed> {
  const folder = serverFolder("nats");
  const port = await freePort();
  const [user, password] = ["writ", "a password of this test"];
  const permissions = JSON.stringify({ publish: mayPublish ?? [], subscribe: ["_INBOX.>"] });
  const files: Readonly<Record<string, string>> = {
    "key.pem": tls?.key ?? "",
    "cert.pem": tls?.cert ?? "",
    "nats.conf": [
      `listen: "127.0.0.1:${port}"`,
      `jetstream { store_dir: "${folder}/data", max_memory_store: 64MB, max_file_store: 256MB }`,
      `authorization { users: [`,
      `  { user: "${user}", password: "${password}" }`,
      `  { user: "limited", password: "${password}", permissions: ${permissions} }`,
      `] }`,
      ...(tls === undefined
        ? []
        : [`tls { cert_file: "${folder}/cert.pem", key_file: "${folder}/key.pem", timeout: 10 }`]),
      "",
    ].join("\n"),
  };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(`${folder}/${name}`, text, { mode: 0o600 });
    own(`${folder}/${name}`);
  }
  const { stop } = await launch({
    program: "nats-server",
    args: ["-c", `${folder}/nats.conf`],
    folder,
    ready: () => accepts(port),
  });
  return { url: `${tls === undefined ? "nats" : "tls"}://127.0.0.1:${port}`, user, password, stop };
}
