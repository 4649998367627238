// A provider that remembers keys: a plain HTTP server, as little of one as keeps the contract http/idempotency-key.
import { createServer } from "node:http";
import { serve } from "./child.mjs";

await serve(async () => {
  const answers = new Map();
  let effects = 0;
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const key = request.headers["idempotency-key"];
      let answer = answers.get(key);
      if (answer === undefined) {
        JSON.parse(Buffer.concat(chunks).toString());
        effects++;
        answer = `{"id":"order_${effects}"}`;
        answers.set(key, answer);
      }
      response.writeHead(201, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(answer),
      });
      response.end(answer);
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    ready: () => ({ url: `http://127.0.0.1:${server.address().port}` }),
    effects: () => effects,
    end: () => server.closeAllConnections(),
  };
});
