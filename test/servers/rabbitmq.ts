import { writeFileSync } from "node:fs";
import { accepts, freePort, launch, own, serverFolder } from "./launch.ts";
import type { Credentialed } from "./nats.ts";
import { lacks, type RealServer, type Stoppable } from "./server.ts";

// The start script itself: Debian's wrapper in PATH becomes the user of the machine's own server, with that one's folders.
const PROGRAM = "/usr/lib/rabbitmq/bin/rabbitmq-server";

/** RabbitMQ, alone: its node is known to no other and to no port mapper that was there before. */
export const rabbitmq: RealServer<Stoppable & Credentialed> = {
  name: "RabbitMQ",
  installed: () => lacks("rabbitmq-server", PROGRAM, "epmd"),
  start: async () => {
    const folder = serverFolder("rabbitmq");
    const [port, distPort, mapperPort] = [await freePort(), await freePort(), await freePort()];
    const file = `${folder}/rabbitmq.conf`;
    writeFileSync(file, `listeners.tcp.default = 127.0.0.1:${port}\nlog.console = true\nlog.file = false\n`);
    writeFileSync(`${folder}/enabled_plugins`, "[].\n");
    // Says what the machine's own configuration would otherwise say.
    writeFileSync(`${folder}/rabbitmq-env.conf`, "");
    for (const name of ["rabbitmq.conf", "enabled_plugins", "rabbitmq-env.conf"]) own(`${folder}/${name}`);
    const mapper = await launch({
      program: "epmd",
      args: ["-port", String(mapperPort), "-address", "127.0.0.1"],
      folder: serverFolder("epmd"),
      ready: () => accepts(mapperPort),
    });
    try {
      const { stop } = await launch({
        program: PROGRAM,
        args: [],
        folder,
        env: environment(folder, { distPort, mapperPort }),
        startMs: 110_000,
        ready: () => accepts(port),
      });
      const end = async (): Promise<void> => {
        await stop();
        await mapper.stop();
      };
      return { url: `amqp://127.0.0.1:${port}`, user: "guest", password: "guest", stop: end };
    } catch (error) {
      await mapper.stop();
      throw error;
    }
  },
};

interface Ports {
  readonly distPort: number;
  readonly mapperPort: number;
}

function environment(folder: string, { distPort, mapperPort }: Ports): Readonly<Record<string, string>> {
  return {
    RABBITMQ_NODENAME: `writ-test-${distPort}@localhost`,
    RABBITMQ_CONF_ENV_FILE: `${folder}/rabbitmq-env.conf`,
    RABBITMQ_CONFIG_FILE: `${folder}/rabbitmq.conf`,
    RABBITMQ_ADVANCED_CONFIG_FILE: `${folder}/advanced.config`,
    RABBITMQ_ENABLED_PLUGINS_FILE: `${folder}/enabled_plugins`,
    RABBITMQ_BASE: folder,
    RABBITMQ_MNESIA_BASE: `${folder}/mnesia`,
    RABBITMQ_LOG_BASE: `${folder}/log`,
    RABBITMQ_PID_FILE: `${folder}/pid`,
    RABBITMQ_DIST_PORT: String(distPort),
    ERL_EPMD_PORT: String(mapperPort),
    ERL_EPMD_ADDRESS: "127.0.0.1",
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS:
      "-kernel inet_dist_use_interface {127,0,0,1} -setcookie writ +S 1:1 +sbwt none",
  };
}
