import { describe, expect, onTestFinished } from "vitest";
import type { Contract } from "../../src/core/contract.ts";
import { parseContract } from "../../src/core/contract-parse.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { ask, askJson } from "../conformance/ask.ts";
import { calendarEntry } from "../conformance/calendar.ts";
import { DOCUMENT } from "../conformance/document.ts";
import { living, preset } from "../connectors/errand.ts";
import { alertmanager } from "../servers/alertmanager.ts";
import { apacheDav } from "../servers/apache-dav.ts";
import { etcd } from "../servers/etcd.ts";
import { nginxDav } from "../servers/nginx-dav.ts";
import { radicale } from "../servers/radicale.ts";
import type { RealServer, Stoppable } from "../servers/server.ts";
import { needs } from "../support/needs.ts";
import { probing, verdicts } from "../support/probing.ts";

const ETAG: JsonObject = {
  kind: "etag",
  atomic: "claimed",
  versions: "may_return",
  replay: "precondition_first",
};
const WRITTEN: JsonObject = {
  outcomes: [
    { when: { status: [200, 201, 204] }, is: "effect" },
    { when: { status: [412] }, is: "precondition_failed" },
  ],
};
const DAV = parseContract({
  contract: "test.document/v1",
  ...DOCUMENT,
  ...living("5s"),
  ...WRITTEN,
  precondition: ETAG,
});
const ENTRY = parseContract({
  contract: "test.entry/v1",
  transport: "http",
  ...living("5s"),
  ...WRITTEN,
  precondition: ETAG,
  read: { request: { method: "GET", url: "{{base}}/{{resource}}.ics" }, version: { header: "ETag" } },
  request: {
    method: "PUT",
    url: "{{base}}/{{resource}}.ics",
    headers: { "If-Match": "{{expected.version}}", "Content-Type": "text/calendar; charset=utf-8" },
    encode: "text",
    body: calendarEntry({ uid: "{{resource}}", title: "{{args.title}}" }),
  },
});

const SCRATCH = "scratch";

async function started<Running extends Stoppable>(server: RealServer<Running>): Promise<Running> {
  const running = await server.start();
  onTestFinished(() => running.stop());
  return running;
}

describe("a probe on real servers", () => {
  needs(apacheDav)(
    "finds that mod_dav honours a precondition, and not atomically",
    async () => {
      const server = await started(apacheDav);
      await ask(`${server.url}/${SCRATCH}`, "PUT", { body: { available: 1 } });

      const { found } = await probing(server.url, DAV, { document: { available: "{n}" } });

      expect(verdicts(found)).toMatchObject({ honoured: "held", atomic: "broken", lookup: "held" });
      expect(found.verdict).toBe("broken");
      expect(found.measured.find(({ claim }) => claim === "atomic")?.says).toContain(
        "a slow request with an old version overwrote a newer one",
      );
    },
    60_000,
  );

  needs(nginxDav)(
    "finds that nginx shows an ETag and ignores the precondition",
    async () => {
      const server = await started(nginxDav);
      await ask(`${server.url}/${SCRATCH}`, "PUT", { body: { available: 1 } });

      const { found } = await probing(server.url, DAV, { document: { available: "{n}" } });

      expect(verdicts(found)).toMatchObject({ honoured: "broken" });
      expect(found.measured[0]?.says).toBe(
        "a write with an old version was accepted: the provider ignores the precondition",
      );
    },
    60_000,
  );

  needs(etcd)(
    "finds etcd atomic, its marker one effect, its lookup at once and its barrier standing",
    async () => {
      const server = await started(etcd);
      const key = Buffer.from(SCRATCH).toString("base64");
      await askJson(`${server.url}/v3/kv/put`, "POST", { body: { key, value: "MQ==" } });

      const { found } = await probing(server.url, preset("http/etcd", living("5s")), { value: "probe {n}" });

      expect(verdicts(found)).toEqual({
        honoured: "held",
        atomic: "held",
        versions: "held",
        same_identity: "held",
        other_content: "held",
        in_flight: "held",
        lookup: "held",
        barrier: "held",
      });
      expect(found.verdict).toBe("holds");
    },
    60_000,
  );

  needs(radicale)(
    "finds Radicale atomic, and sees its versions come back where a contract says that none does",
    async () => {
      const server = await started(radicale);
      await ask(`${server.url}/${SCRATCH}.ics`, "PUT", {
        body: calendarEntry({ uid: SCRATCH, title: "first" }),
        headers: { "content-type": "text/calendar" },
      });

      const { found } = await probing(server.url, ENTRY, { title: "probe {n}" });
      const proud = {
        ...ENTRY,
        precondition: { ...ENTRY.precondition, versions: "never_return" },
      } as Contract;
      const prouder = await probing(server.url, proud, { title: "probe {n}" }, { rounds: 1 });

      expect(verdicts(found)).toEqual({ honoured: "held", atomic: "held" });
      expect(verdicts(prouder.found)).toMatchObject({ versions: "broken" });
    },
    60_000,
  );

  needs(alertmanager)(
    "finds that a key means nothing to Alertmanager",
    async () => {
      const server = await started(alertmanager);
      const lie = parseContract({
        contract: "test.silence/v1",
        transport: "http",
        ...living("5s"),
        identity: { kind: "key", window: { for: "24h" } },
        request: {
          method: "POST",
          url: "{{base}}/api/v2/silences",
          body: {
            matchers: [{ name: "alertname", value: "{{args.alert}}", isRegex: false }],
            startsAt: new Date().toISOString(),
            endsAt: new Date(Date.now() + 3_600_000).toISOString(),
            createdBy: "writ",
            comment: "{{op.id}}",
          },
        },
        outcomes: [{ when: { status: [200] }, is: "effect", receipt: { id: "/silenceID" } }],
      });

      const { found } = await probing(server.url, lie, { alert: "probe {n}" });

      expect(verdicts(found)).toMatchObject({
        same_identity: "broken",
        in_flight: "broken",
        window: "unmeasured",
      });
    },
    60_000,
  );
});
