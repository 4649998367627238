import { expect } from "vitest";
import { Problem } from "../../src/core/problem.ts";
import type { DoorParts } from "../../src/http/door.ts";
import type { TestDoor } from "../support/door.ts";

/** A login of which nothing but its answers is asked. */
export function loginOf(answers: () => Promise<never>): NonNullable<DoorParts["login"]> {
  return { begin: answers, finish: answers, end: answers };
}

/** A login that knows one answer by its query. */
export const LOGIN: NonNullable<DoorParts["login"]> = {
  begin: async () => ({ location: "https://issuer.example/auth", cookies: ["a=b"] }),
  finish: async ({ target }) => {
    if (!target.endsWith("?code=good")) throw new Problem("unauthenticated", "the login is not accepted");
    return { next: "/docs", cookies: ["c=d"] };
  },
  end: async () => ({ cookies: [] }),
};

/** Every status of signing in and out that is no common refusal. */
export async function loginStatuses({ call }: TestDoor): Promise<void> {
  const begun = await call("GET", "/login?next=/docs", { as: null });
  const finished = await call("GET", "/login/callback?code=good", { as: null });
  const refused = await call("GET", "/login/callback?code=bad", { as: null });
  const malformed = await call("GET", `/login/callback?state=${"s".repeat(600)}`, { as: null });
  const ended = await call("POST", "/logout", { body: {} });

  expect([begun.status, begun.headers.location, begun.headers["set-cookie"]]).toEqual([
    303,
    "https://issuer.example/auth",
    ["a=b"],
  ]);
  expect([finished.status, refused.status, malformed.status, ended.status]).toEqual([200, 401, 400, 204]);
}
