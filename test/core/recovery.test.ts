import { expect, test } from "vitest";
import type { Contract } from "../../src/core/contract.ts";
import type { Progress } from "../../src/core/operation.ts";
import { next } from "../../src/core/recovery.ts";
import {
  ABSENT,
  answering,
  authoritative,
  CLAIMED_AT,
  doubt,
  KEY,
  LAPSED,
  LIVE,
  NO,
  NOTHING,
  positive,
  request,
  SILENCE,
  tombstone,
} from "./doubt.ts";

test.each<[string, Partial<Contract>, Progress, { live: boolean }, object]>([
  ["1 mismatch answered", { identity: KEY }, doubt([answering("mismatch")]), LIVE, { do: "person", row: 1 }],
  [
    "1 conflict found",
    { identity: KEY },
    doubt([SILENCE], { conflict: true }),
    LIVE,
    { do: "person", row: 1 },
  ],
  [
    "3 duplicate, nothing to ask",
    { identity: KEY },
    doubt([SILENCE, answering("duplicate")]),
    LIVE,
    { do: "succeed", row: 3 },
  ],
  [
    "3 duplicate, one lookup first",
    { identity: KEY, lookup: [positive] },
    doubt([SILENCE, answering("duplicate")]),
    LIVE,
    { do: "look_up", row: 3, lookup: "finds", at: 2000 },
  ],
  [
    "4 a final no of the only attempt",
    {},
    doubt([NO]),
    LIVE,
    { do: "reject", row: 4, reason: "provider_refused" },
  ],
  ["5 nothing was sent: Retry-After first", {}, doubt([ABSENT]), LIVE, { do: "authorize", row: 5, at: 1420 }],
  [
    "6 accepted",
    {
      completion: { request, everyMs: 60, done: {}, refused: {} },
      lookup: [{ ...positive, horizonMs: 5000 }],
    },
    doubt([answering("accepted")]),
    LIVE,
    { do: "poll", row: 6, at: 1080 },
  ],
  [
    "7 in flight",
    { identity: KEY },
    doubt([answering("in_flight")]),
    LIVE,
    { do: "repeat", row: 7, at: 1030 },
  ],
  [
    "7 in flight, permission lapsed",
    { identity: KEY },
    doubt([answering("in_flight")]),
    LAPSED,
    { do: "person", row: 13 },
  ],
  [
    "8 ask once after the last send",
    { lookup: [authoritative] },
    doubt([SILENCE]),
    LIVE,
    { do: "look_up", row: 8, lookup: "proves", at: 2000 },
  ],
  [
    "8 then when absence can be believed",
    { lookup: [authoritative] },
    doubt([SILENCE], { looked: 1, lastStartedAt: 1010 }),
    LIVE,
    { do: "look_up", row: 8, lookup: "proves", at: 1058 },
  ],
  [
    "8 no barrier while a repeat may do",
    { identity: KEY, lookup: [authoritative], barrier: tombstone },
    doubt([SILENCE], { looked: 1, lastStartedAt: 1010 }),
    LIVE,
    { do: "look_up", row: 8 },
  ],
  [
    "8 a barrier once permission lapsed",
    { identity: KEY, lookup: [authoritative], barrier: tombstone },
    doubt([SILENCE], { looked: 1, lastStartedAt: 1010 }),
    LAPSED,
    { do: "bar", row: 8 },
  ],
  [
    "8 behind the barrier, look",
    { lookup: [authoritative], barrier: tombstone },
    doubt([SILENCE], { looked: 1, lastStartedAt: 1010, barrier: "raised", barrierAt: 1990 }),
    LIVE,
    { do: "look_up", row: 8, at: 2000 },
  ],
  [
    "8 and once more when the lag has passed",
    { lookup: [authoritative], barrier: tombstone },
    doubt([SILENCE], { looked: 2, lastStartedAt: 1996, barrier: "raised", barrierAt: 1995 }),
    LIVE,
    { do: "look_up", row: 8, at: 2003 },
  ],
  [
    "8 unclear too often",
    { lookup: [authoritative] },
    doubt([SILENCE], { looked: 3, unclearInRow: 3, lastStartedAt: 1500 }),
    LIVE,
    { do: "person", row: 8 },
  ],
  [
    "9 settled absence, identity usable",
    { identity: KEY },
    doubt([SILENCE], { absentSince: 1200 }),
    LIVE,
    { do: "authorize", row: 9, at: 2000 },
  ],
  [
    "10 settled absence, no identity",
    {},
    doubt([SILENCE], { absentSince: 1200 }),
    LIVE,
    { do: "reject", row: 10, reason: "not_applied" },
  ],
  [
    "10 barred absence",
    { identity: KEY },
    doubt([SILENCE], { absentSince: 1200, barrier: "raised", barred: true }),
    LIVE,
    { do: "reject", row: 10, reason: "not_applied" },
  ],
  [
    "10 settled absence, final",
    { identity: KEY },
    doubt([SILENCE, NO], { absentSince: 1900 }),
    LIVE,
    { do: "reject", row: 10, reason: "provider_refused" },
  ],
  [
    "11 the repeat is the lookup",
    { identity: KEY },
    doubt([SILENCE]),
    LIVE,
    { do: "repeat", row: 11, at: 1030 },
  ],
  ["11 not after a final no", { identity: KEY }, doubt([SILENCE, NO]), LIVE, { do: "person", row: 13 }],
  [
    "11 not after marker-only",
    { identity: { ...KEY, kind: "marker", duplicateMeans: "marker_only" } },
    doubt([SILENCE, answering("duplicate")]),
    LIVE,
    { do: "person", row: 13 },
  ],
  [
    "12 ask what can only find",
    { lookup: [{ ...positive, horizonMs: 5000 }] },
    doubt([SILENCE]),
    LIVE,
    { do: "look_up", row: 12, at: 2000 },
  ],
  [
    "13 until its horizon",
    { lookup: [positive] },
    doubt([SILENCE], { looked: 9, lastStartedAt: 1490 }),
    LIVE,
    { do: "person", row: 13 },
  ],
  ["13 nothing to ask", {}, doubt([SILENCE]), LIVE, { do: "person", row: 13 }],
])("row %s", (_name, contract, progress, standing, plan) => {
  expect(next({ ...NOTHING, ...contract }, progress, standing, 2000)).toMatchObject(plan);
});

test("a question in the very moment of the send is no question after it: the next is due a moment later, not at once for ever", () => {
  const asked = doubt([SILENCE], { looked: 1, lastStartedAt: CLAIMED_AT });

  expect(next({ ...NOTHING, lookup: [authoritative] }, asked, LIVE, CLAIMED_AT)).toMatchObject({
    do: "look_up",
    at: CLAIMED_AT + 1,
  });
});
