import { createServer, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import type { Contract } from "../../src/core/contract.ts";
import { parseContract } from "../../src/core/contract-parse.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { errandOf, living, preset } from "./errand.ts";
import { closeAfter, connectorTo } from "./rig.ts";

interface Canned {
  readonly url: string;
  /** Every request as it came, byte for byte. */
  readonly heard: string[];
}

/** A server that says one thing to everything. */
async function saying(answer: string, type = "application/json", headers = ""): Promise<Canned> {
  const heard: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = "";
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      text += bytes.toString("utf8");
      const [head = "", body] = text.split("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (body === undefined || Buffer.byteLength(body) < length) return;
      heard.push(text);
      text = "";
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${headers}content-length: ${Buffer.byteLength(answer)}\r\n\r\n${answer}`,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closeAfter(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a server on a port");
  return { url: `http://127.0.0.1:${address.port}`, heard };
}

const ID = errandOf(preset("http/no-guarantees")).action.operationId;
const found = async (contract: Contract, answer: string, type?: string, headers?: string) => {
  const { url } = await saying(answer, type, headers);
  return connectorTo(url).lookUp(errandOf(contract), contract.lookup[0]?.name ?? "");
};

describe("a list in an answer", () => {
  const contract = preset("http/stripe-like", living("5s"));
  const { digest } = errandOf(contract);
  const item = (operation: string, its = digest) => ({
    id: `pi_${operation.slice(-1)}`,
    metadata: { writ_operation: operation, writ_digest: its },
  });

  test("is looked through for our operation, and only its own item is evidence", async () => {
    const answer = JSON.stringify({ data: [item("other"), item(ID), item("third")] });

    expect(await found(contract, answer)).toEqual({
      kind: "confirmed",
      evidence: { kind: "lookup", data: { lookup: "metadata", status: 200, id: "pi_1", digest } },
    });
  });

  test("with our operation and another digest is a conflict", async () => {
    const answer = JSON.stringify({ data: [item("other"), item(ID, "sha-256:else")] });

    expect(await found(contract, answer)).toMatchObject({ kind: "conflict" });
  });

  test.each([
    ['{"data":[]}', "absent"],
    ['{"data":[{"metadata":{}}]}', "absent"],
    ['{"data":{}}', "unclear"],
    ["{}", "unclear"],
    ["<html>", "unclear"],
  ])("%s without our operation is %s", async (answer, kind) => {
    expect(await found(contract, answer)).toMatchObject({ kind });
  });

  test("may be the whole answer", async () => {
    const silences = preset("http/alertmanager", living("5s"));
    const comment = `writ ${ID} ${errandOf(silences).digest}`;

    expect(
      await found(
        silences,
        JSON.stringify([
          { id: "a", comment: "x" },
          { id: "b", comment },
        ]),
      ),
    ).toMatchObject({
      kind: "confirmed",
      evidence: { data: { silence: "b" } },
    });
    expect(await found(silences, "[]")).toEqual({ kind: "absent" });
    expect(await found(silences, "{}")).toMatchObject({ kind: "unclear" });
  });
});

describe("an answer that is no JSON", () => {
  const contract = preset("http/ec2-client-token", living("5s"));

  test("is looked into for the texts that the contract names", async () => {
    const xml = (token: string) =>
      `<DescribeInstancesResponse><clientToken>${token}</clientToken></DescribeInstancesResponse>`;

    expect(await found(contract, xml(ID), "text/xml")).toMatchObject({ kind: "confirmed" });
    expect(await found(contract, xml("other"), "text/xml")).toEqual({ kind: "absent" });
    expect(await found(contract, "<Response/>", "text/xml")).toMatchObject({ kind: "unclear" });
  });

  test("an argument that is empty does not make every answer match", async () => {
    const lookup = [
      {
        name: "text",
        request: { method: "GET", url: "{{base}}/{{op.id}}" },
        found: { contains: "{{args.note}}" },
        absent: { status: 404 },
      },
    ];
    const changed = parseContract({ ...MINIMAL, lookup });
    const { url } = await saying("anything", "text/plain");

    const finding = await connectorTo(url).lookUp(errandOf(changed, { arguments: { note: "" } }), "text");

    expect(finding).toMatchObject({ kind: "unclear" });
  });
});

const MINIMAL: JsonObject = {
  contract: "test/v1",
  transport: "http",
  ...living("5s"),
  request: { method: "PUT", url: "{{base}}/x" },
  outcomes: [{ when: { status: 200 }, is: "effect" }],
};

test("a digest in a header, and one in another form, are compared with ours", async () => {
  const object = preset("http/s3-conditional", living("5s"));
  const { digest } = errandOf(object);
  const head = (its: string) =>
    `x-amz-meta-writ-operation: ${ID}\r\nx-amz-meta-writ-digest: ${its}\r\netag: "v"\r\n`;
  expect(await found(object, "bytes", "text/plain", head(digest))).toMatchObject({ kind: "confirmed" });
  expect(await found(object, "bytes", "text/plain", head("sha-256:else"))).toMatchObject({
    kind: "conflict",
  });

  const etcd = preset("http/etcd", living("5s"));
  const marker = (text: string) =>
    JSON.stringify({ header: {}, kvs: [{ value: Buffer.from(text).toString("base64"), mod_revision: "7" }] });
  expect(await found(etcd, marker(errandOf(etcd).digest))).toMatchObject({ kind: "confirmed" });
  expect(await found(etcd, marker("sha-256:else"))).toMatchObject({ kind: "conflict" });
  expect(await found(etcd, marker("tombstone"))).toEqual({ kind: "absent", sawBarrier: true });
  expect(await found(etcd, '{"header":{}}')).toEqual({ kind: "absent" });
  expect(await found(etcd, "{}")).toMatchObject({ kind: "unclear" });
});

test.each([
  "http/azure-repeatability",
  "http/stripe-like",
  "http/etcd",
  "http/dynamodb-like",
  "http/kubernetes",
])("%s sends the same bytes on every attempt, whenever that is", async (name) => {
  const contract = preset(name, living("5s"));
  const { url, heard } = await saying("{}");
  const connector = connectorTo(url);
  // A form takes plain values only.
  const plain = { value: "x", amount: 3 };
  const structures = { item: { a: { S: "b" } }, object: { kind: "A", metadata: { name: "n" } } };
  const choices = {
    resource: "main",
    expectedVersion: "7",
    arguments: name.endsWith("stripe-like") ? plain : { ...plain, ...structures },
  };

  for (const attempt of [1, 2, 3]) await connector.perform(errandOf(contract, { ...choices, attempt }));

  expect(heard).toHaveLength(3);
  expect(new Set(heard).size).toBe(1);
});

test("Repeatability-First-Sent is the first attempt's moment in the form of HTTP dates", async () => {
  const contract = preset("http/azure-repeatability", living("5s"));
  const { url, heard } = await saying("{}");

  await connectorTo(url).perform(errandOf(contract, { resource: "emails" }));

  expect(heard[0]).toMatch(/repeatability-first-sent: Thu, 01 Jan 2026 00:00:01 GMT\r\n/);
});
