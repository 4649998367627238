import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { selfSigned } from "./certificate.ts";
import { connectorTo, scripted, writing } from "./smtp-rig.ts";

describe("silence", () => {
  const talk =
    (last: (heard: string, socket: Socket) => string | undefined) => (heard: string, socket: Socket) => {
      if (/^(EHLO|MAIL|RCPT).*\r\n$/.test(heard)) return "250 yes\r\n";
      if (heard === "DATA\r\n") return "354 go on\r\n";
      return last(heard, socket);
    };

  test("before the dot is an absence", async () => {
    const { port } = await scripted((heard, socket) => {
      if (/^RCPT/.test(heard)) socket.destroy();
      return /^(EHLO|MAIL).*\r\n$/.test(heard) ? "250 yes\r\n" : undefined;
    });

    expect(await connectorTo({ port }).perform(writing())).toMatchObject({ kind: "absent" });
  });

  test("after the dot is lost, whatever was heard of the answer", async () => {
    const ends = [
      (socket: Socket) => void socket.destroy(),
      (socket: Socket) => void socket.end("25"),
      (socket: Socket) => void socket.end("what?\r\n"),
      (socket: Socket) => void socket.end("354 more\r\n"),
    ];
    for (const end of ends) {
      const { port } = await scripted(
        talk((heard, socket) => {
          if (heard.endsWith("\r\n.\r\n")) end(socket);
          return undefined;
        }),
      );
      expect(await connectorTo({ port }).perform(writing())).toMatchObject({
        kind: "lost",
        seen: { phase: "after_dot" },
      });
    }
  });

  test("of a server that offers no protection is before the dot: nothing is said in the open", async () => {
    const heard: string[] = [];
    const { port } = await scripted((text) => {
      heard.push(text);
      return "250 yes\r\n";
    });
    const connector = connectorTo({ port, tls: "starttls", user: "writ", password: "secret-word" });

    expect(await connector.perform(writing())).toMatchObject({ kind: "absent" });
    expect(heard.join("")).toBe("EHLO writ.example.test\r\n");
  });
});

describe("a server that is protected from the first byte", () => {
  test("is told the credential inside of TLS, and is not spoken to when its certificate is somebody else's", async () => {
    const { key, cert } = selfSigned("localhost");
    const heard: string[] = [];
    const listening = createTlsServer({ key, cert }, (socket) => {
      socket.on("error", () => undefined);
      socket.write("220 yes\r\n");
      socket.on("data", (bytes) => {
        heard.push(bytes.toString("latin1"));
        socket.write(
          heard.at(-1)?.startsWith("EHLO") ? "250-yes\r\n250 AUTH PLAIN LOGIN\r\n" : "535 5.7.8 no\r\n",
        );
      });
    });
    listening.listen(0, "127.0.0.1");
    await once(listening, "listening");
    onTestFinished(() => void listening.close());
    const { port } = listening.address() as AddressInfo;
    const there = {
      host: "localhost",
      port,
      tls: "implicit",
      user: "writ",
      password: "secret-word",
    } as const;

    const trusted = await connectorTo({ ...there, ca: cert }).perform(writing());
    const strange = await connectorTo(there).perform(writing());

    expect(trusted).toMatchObject({ kind: "absent", why: expect.stringContaining("535") });
    expect(heard[1]).toBe(`AUTH PLAIN ${Buffer.from("\0writ\0secret-word").toString("base64")}\r\n`);
    expect(heard).toHaveLength(2);
    expect(strange).toMatchObject({ kind: "absent", why: expect.stringContaining("certificate") });
  });
});
