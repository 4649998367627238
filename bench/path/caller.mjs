// The callers of the whole service: as little of an HTTP client as can be, because it runs on the machine that is measured.
import { connect } from "node:net";
import { serve } from "./child.mjs";
import { loader } from "./load.mjs";

await serve(async ({ url, token }) => {
  const { hostname, port, host } = new URL(url);
  const idle = [];
  const once = async ({ claims, key }) => {
    const line = idle.pop() ?? keptLine({ host: hostname, port: Number(port) });
    try {
      const body = JSON.stringify(claims);
      const { status, text } = await line(
        `POST /v1/operations HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\nidempotency-key: ${key}\r\n` +
          `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      if (status !== 200 || JSON.parse(text).state !== "succeeded")
        throw new Error(`${status} ${text.slice(0, 500)}`);
    } finally {
      idle.push(line);
    }
  };
  return { run: loader(once), end: () => undefined };
});

const HEAD_END = "\r\n\r\n";

/** One connection that is kept, one request on it at a time. */
function keptLine(place) {
  const socket = connect(place);
  socket.setNoDelay(true);
  let answered;
  let bytes = Buffer.alloc(0);
  const fail = (error) => answered?.reject(error ?? new Error("the connection was closed"));
  socket.on("error", fail);
  socket.on("close", () => fail());
  socket.on("data", (chunk) => {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) return;
    const head = bytes.latin1Slice(0, end);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
    const bodyAt = end + HEAD_END.length;
    if (bytes.length < bodyAt + length) return;
    const text = bytes.utf8Slice(bodyAt, bodyAt + length);
    bytes = Buffer.alloc(0);
    answered.resolve({ status: Number(head.slice(9, 12)), text });
  });
  return (request) =>
    new Promise((resolve, reject) => {
      answered = { resolve, reject };
      socket.write(request);
    });
}
