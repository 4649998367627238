import { describe, expect, test } from "vitest";
import { lintContract } from "../../src/core/contract-lint.ts";
import { parseContract } from "../../src/core/contract-parse.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { preset } from "../connectors/errand.ts";

/** What the linter says of a preset with some members replaced. */
function found(name: string, changes: JsonObject) {
  return lintContract(preset(name, changes)).map(({ rule, at, says }) => `${rule} ${at}: ${says}`);
}

const PUBLISH = { stream: "ORDERS", subject: "orders.{{resource}}", payload: "{{args}}" };
const SEARCH = { ...PUBLISH, header: { "Nats-Msg-Id": "{{op.id}}" }, since: "{{op.first_sent_at}}" };
const { payload: _, ...find } = SEARCH;
const lookup = (request: JsonObject, absent: JsonObject) => ({
  lookup: [
    {
      name: "it",
      strength: "authoritative",
      lag: "0s",
      horizon: "1h",
      request,
      found: { status: 200, body: { "/headers/Nats-Msg-Id": "{{op.id}}" } },
      absent,
    },
  ],
});

describe("a contract for JetStream", () => {
  const queue = "nats/jetstream-queue";

  test("counts on the message id only where it is sent, and not for ever", () => {
    const headers = { "Writ-Operation": "{{op.id}}" };
    const endless = { kind: "key", window: { for: "permanent", after: "executes" } };

    expect(found(queue, { request: { publish: { ...PUBLISH, headers } } })).toEqual([
      'message-id-missing /request/publish/headers: the server recognizes a repeat by Nats-Msg-Id alone; write Nats-Msg-Id: "{{op.id}}", or another identity',
    ]);
    expect(found(queue, { identity: endless })).toEqual([
      "window-unlimited /identity/window: a stream remembers message ids for its duplicate window and stores a repeat afterwards; write that window, and after: executes",
    ]);
  });

  test("proves no absence by what a stream may have forgotten", () => {
    expect(found(queue, lookup({ find }, { status: 404 }))).toEqual([
      'absence-unproved /lookup/0/absent: "it" could miss a message that the stream has forgotten; write absent: { status: 404, body: { /kept: true } } over a find, or strength: positive',
    ]);
    expect(found(queue, lookup({ find }, { status: 404, body: { "/kept": true } }))).toEqual([]);
  });

  test("asks without writing", () => {
    const publish = { ...PUBLISH, headers: { "Nats-Msg-Id": "{{op.id}}" } };
    const says = found(queue, lookup({ publish }, { status: 404, body: { "/kept": true } }));

    expect(says).toContain(
      'message-misplaced /lookup/0/request: "publish" is not for this place; write one of last, find',
    );
  });
});

describe("a contract for Redis", () => {
  const marker = "redis/marker";

  test("counts on a marker no longer than it is kept", () => {
    const identity = { kind: "marker", window: { for: "31d", after: "executes" } };

    expect(found(marker, { identity })).toEqual([
      "window-beyond-marker /identity/window: the marker is kept for 30d and a repeat executes again afterwards; write window: { for: 30d, after: executes }, or keep it for ever",
    ]);
    expect(found(marker, { identity: { kind: "marker" } })).toHaveLength(1);
  });

  test("means one marker everywhere", () => {
    const bar = { marker: "other:{{op.id}}", operation: "{{op.id}}", digest: "{{op.digest}}", keep: "30d" };
    const raised = { status: 200, body: { "/result": "barred" } };

    expect(found(marker, { barrier: { kind: "tombstone", request: { bar }, raised } })).toEqual([
      "markers-differ /barrier/request/bar: marker and keep are written as in the request: only then it is the same marker, for the same time",
    ]);
  });

  test("proves no absence by a marker that may not be kept any more", () => {
    const question = { marker: "{{vars.marker}}", keep: "30d", since: "{{op.first_sent_at}}" };

    expect(found(marker, lookup({ find: question }, { status: 404 }))).toEqual([
      'absence-unproved /lookup/0/absent: "it" could miss a marker that was kept long enough; write absent: { status: 404, body: { /kept: true } } over a find, or strength: positive',
    ]);
  });
});

test("a contract for RabbitMQ has no identity and asks nothing", () => {
  const publish = { exchange: "orders", routingKey: "x", messageId: "{{op.id}}", payload: "{{args}}" };
  const identity = { kind: "key", window: { for: "1h", after: "executes" } };
  const question = { ...lookup({ publish }, { status: 404 }), settle: { bounded: "1m" } };

  expect(found("rabbitmq/publish", { identity })).toEqual([
    "repeat-unrecognized /identity: RabbitMQ stores a repeat as a second message, whatever its messageId; write identity: none",
  ]);
  expect(found("rabbitmq/publish", question)).toContain(
    "message-misplaced /lookup/0/request: transport rabbitmq has no message for this place; leave it out",
  );
});

const REFUSED: readonly (readonly [string, JsonObject, string])[] = [
  ["nats", { publish: PUBLISH, last: PUBLISH }, "write exactly one of publish, last and find"],
  ["nats", { publish: { subject: "x", payload: "x" } }, "name the stream"],
  ["nats", { publish: { ...PUBLISH, headers: { "Nats-Rollup": "all" } } }, "only Nats-Msg-Id"],
  ["nats", { publish: { ...PUBLISH, headers: { "Nats-Expected-Stream": "X" } } }, 'written from "stream"'],
  ["nats", { find: { ...find, after: "1" } }, "write either since"],
  ["redis", { write: { marker: "m", operation: "o", digest: "d", do: [] } }, "write 1 to 8 commands"],
  [
    "redis",
    { write: { marker: "m", operation: "o", digest: "d", do: [["FLUSHALL", "x"]] } },
    "write one of SET",
  ],
  ["redis", { bar: { marker: "m", operation: "o", digest: "d", keep: "10s" } }, "at least 5m"],
  ["redis", { find: { marker: "m", keep: "5m" } }, "stand together"],
  ["rabbitmq", { publish: { exchange: "x", payload: "x" } }, "write the routing key"],
  [
    "rabbitmq",
    { publish: { exchange: "x", routingKey: "r", payload: "x", headers: { CC: "y" } } },
    "where it goes",
  ],
];

test.each(REFUSED)("a message of %s that is not one is refused: %j", (transport, request, says) => {
  expect(() => parseContract({ contract: "test/v1", transport, request })).toThrow(says);
});
