import { accepts, freePort, launch, serverFolder } from "./launch.ts";
import { lacks, type RealServer, type Stoppable } from "./server.ts";

/** Redis, alone, behind a password, with nothing kept on disk. */
export const redis: RealServer<Stoppable & { readonly url: string; readonly password: string }> = {
  name: "Redis",
  installed: () => lacks("redis-server", "redis-server"),
  start: async () => {
    const folder = serverFolder("redis");
    const port = await freePort();
    const password = "a-password-of-this-test";
    const settings = {
      "--port": String(port),
      "--bind": "127.0.0.1",
      "--dir": folder,
      "--save": "",
      "--appendonly": "no",
      "--requirepass": password,
    };
    const { stop } = await launch({
      program: "redis-server",
      args: Object.entries(settings).flat(),
      folder,
      ready: () => accepts(port),
    });
    return { url: `redis://127.0.0.1:${port}`, password, stop };
  },
};
