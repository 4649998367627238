import { answers, freePort, launch, serverFolder } from "./launch.ts";
import { lacks, type RealServer, type Stoppable } from "./server.ts";

/** etcd, alone, with its JSON gateway (`/v3/…`) at `url`. */
export const etcd: RealServer<Stoppable & { readonly url: string }> = {
  name: "etcd",
  installed: () => lacks("etcd-server", "etcd"),
  start: async () => {
    const folder = serverFolder("etcd");
    const [port, peerPort] = [await freePort(), await freePort()];
    const url = `http://127.0.0.1:${port}`;
    const peer = `http://127.0.0.1:${peerPort}`;
    const settings = {
      "--name": "one",
      "--data-dir": `${folder}/data`,
      "--listen-client-urls": url,
      "--advertise-client-urls": url,
      "--listen-peer-urls": peer,
      "--initial-advertise-peer-urls": peer,
      "--initial-cluster": `one=${peer}`,
    };
    const args = Object.entries(settings).flat();
    const { stop } = await launch({
      program: "etcd",
      args,
      folder,
      // arm64 builds of some versions insist on being told.
      env: { ETCD_UNSUPPORTED_ARCH: process.arch },
      ready: () => answers(`${url}/health`),
    });
    return { url, stop };
  },
};
