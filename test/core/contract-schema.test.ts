import { readdirSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { parseContract } from "../../src/core/contract-parse.ts";
import { contractSchema } from "../../src/core/contract-schema.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { Problem } from "../../src/core/problem.ts";
import { TRANSPORTS } from "../../src/core/transport.ts";

const SCHEMA = contractSchema();
const fits = new Ajv2020({ strict: false }).compile(SCHEMA);

const GET = { method: "GET", url: "{{base}}/x/{{op.id}}" };
const MATCH = { status: 200, headers: { A: "b" }, body: { "/a": 1 }, contains: ["c"] };
const PICKS = { id: "/id" };
/** A contract in which every member is written. */
const WHOLE: JsonObject = {
  contract: "shop.order/v1",
  transport: "http",
  requestLife: "30s",
  maxPause: "5s",
  lease: "40s",
  attemptsMax: 5,
  backoff: { first: "1s", max: "5m" },
  settle: { bounded: "1m" },
  precondition: { kind: "etag", atomic: "probed", versions: "never_return", replay: "dedup_first" },
  identity: {
    kind: "key",
    window: { opens: "first_send", for: "24h", margin: "1m", after: "executes" },
    duplicateMeans: "effect",
    minRetryDelay: "60s",
  },
  lookup: [
    {
      name: "n",
      strength: "authoritative",
      lag: "0s",
      horizon: "1h",
      request: GET,
      each: "/data",
      found: MATCH,
      absent: MATCH,
      digestAt: "/digest",
      digestIs: "{{op.digest}}",
      barrier: MATCH,
      receipt: PICKS,
    },
  ],
  barrier: { kind: "tombstone", request: GET, raised: MATCH },
  outcomes: [
    { when: MATCH, is: "effect", receipt: PICKS },
    { when: { phase: "sent" }, is: "unknown" },
  ],
  completion: { request: GET, every: "5s", done: MATCH, refused: MATCH, receipt: PICKS },
  read: { request: GET, version: { header: "ETag" }, require: "strong" },
  request: { ...GET, headers: { A: "b" }, query: { a: "b" }, encode: "json", body: { a: 1 } },
  vars: { a: "{{op.id}}" },
  unclearMax: 5,
};

interface Place {
  /** Where a value of this form stands in WHOLE. */
  readonly steps: readonly (string | number)[];
  readonly form: JsonObject;
}

/** Every object and choice of the schema, with where WHOLE has one. */
function placesOf(form: JsonObject, steps: Place["steps"] = []): readonly Place[] {
  const members = Object.entries((form.properties ?? {}) as Readonly<Record<string, JsonObject>>);
  const inner = [
    ...members.flatMap(([name, member]) => placesOf(member, [...steps, name])),
    ...(form.items === undefined ? [] : placesOf(form.items as JsonObject, [...steps, 0])),
    ...((form.anyOf ?? []) as readonly JsonObject[])
      .filter(({ properties }) => properties !== undefined)
      .flatMap((one) => placesOf(one, steps)),
  ];
  const own = members.length > 0 || form.enum !== undefined ? [{ steps, form }] : [];
  return [...own, ...inner];
}

const MESSAGE = (SCHEMA.allOf as readonly { then: { properties: { request: JsonObject } } }[])[0]?.then;
const PLACES = [...placesOf(SCHEMA), ...placesOf(MESSAGE?.properties.request ?? {}, ["request"])];
const TEXT = PLACES.map((place) => ["", ...place.steps].join("/") || "/");

/** WHOLE with something else at one place. */
function changed(steps: Place["steps"], change: (value: Json) => Json, value: Json = WHOLE): Json {
  const [step, ...rest] = steps;
  if (step === undefined) return change(value);
  if (Array.isArray(value))
    return (value as readonly Json[]).map((item, at) => (at === step ? changed(rest, change, item) : item));
  const members = value as JsonObject; // The steps come from the schema, which WHOLE fits.
  return { ...members, [step]: changed(rest, change, members[step]) };
}

function refusal(document: Json): string {
  try {
    parseContract(document);
  } catch (problem) {
    if (problem instanceof Problem) return problem.message;
    throw problem;
  }
  return "";
}

test("the schema takes a contract in which everything is written, and so does the parser", () => {
  expect([fits(WHOLE), fits.errors]).toEqual([true, null]);
  expect(refusal(WHOLE)).toBe("");
});

describe("schema and parser know the same", () => {
  test.each(PLACES.map((place, index) => [TEXT[index], place] as const))("%s", (_, { steps, form }) => {
    const strange = changed(steps, (value) =>
      form.enum === undefined ? { ...(value as JsonObject), zzz: 1 } : "zzz",
    );
    const known = form.enum ?? Object.keys(form.properties as JsonObject);
    const says = refusal(strange);
    const listed = /(?:write one of|"zzz" is not known here;) (.*?)(?: are)?$/.exec(says)?.[1]?.split(", ");

    // Where a shared form is told of in more places than the parser's, it is the parser's that is compared.
    expect([...(listed ?? [says])].sort()).toEqual([...(known as readonly string[])].sort());
    expect(fits(strange)).toBe(false);
  });
});

test("what the schema misses, the parser misses too", () => {
  for (const { steps, form } of PLACES)
    for (const name of (form.required ?? []) as readonly string[]) {
      const less = changed(steps, (value) =>
        Object.fromEntries(Object.entries(value as JsonObject).filter(([member]) => member !== name)),
      );
      expect([steps, name, fits(less)]).toEqual([steps, name, false]);
      expect(refusal(less)).not.toBe("");
    }
});

const PRESETS = new URL("../../presets/", import.meta.url);
test.each(
  readdirSync(PRESETS, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".yaml")),
)("%s fits the schema", (name) => {
  expect([fits(parse(readFileSync(new URL(name, PRESETS), "utf8"))), fits.errors]).toEqual([true, null]);
});

test("every transport may be named", () => {
  const { transport } = SCHEMA.properties as { transport: { enum: readonly string[] } };

  expect(transport.enum).toEqual(Object.keys(TRANSPORTS));
});

test("presets/contract.schema.json is made from it (vitest -u writes it)", async () => {
  // The house's form of JSON: a list of texts stands on one line where it fits.
  const text = JSON.stringify(SCHEMA, null, 2).replaceAll(
    /^(.*)\[\n((?: *"(?:[^"\\\n]|\\.)*",?\n)+) *\](,?)$/gm,
    (list, before, items, after) => {
      const line = `${before}[${items.trim().replaceAll(/\n\s*/g, " ")}]${after}`;
      return line.length <= 110 ? line : list;
    },
  );

  await expect(`${text}\n`).toMatchFileSnapshot("../../presets/contract.schema.json");
});
