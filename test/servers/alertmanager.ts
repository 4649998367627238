import { writeFileSync } from "node:fs";
import { answers, freePort, launch, serverFolder } from "./launch.ts";
import { lacks, type RealServer, type Stoppable } from "./server.ts";

/** Prometheus Alertmanager, alone: two equal requests make two silences. Its API is at `url`. */
export const alertmanager: RealServer<Stoppable & { readonly url: string }> = {
  name: "Alertmanager",
  installed: () => lacks("prometheus-alertmanager", "prometheus-alertmanager"),
  start: async () => {
    const folder = serverFolder("alertmanager");
    const port = await freePort();
    const file = `${folder}/alertmanager.yml`;
    writeFileSync(file, "route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n");
    const url = `http://127.0.0.1:${port}`;
    const { stop } = await launch({
      program: "prometheus-alertmanager",
      args: [
        `--config.file=${file}`,
        `--storage.path=${folder}/data`,
        `--web.listen-address=127.0.0.1:${port}`,
        "--cluster.listen-address=",
      ],
      folder,
      ready: () => answers(`${url}/api/v2/status`),
    });
    return { url, stop };
  },
};
