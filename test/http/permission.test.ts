import { expect, test } from "vitest";
import { buildApp } from "../../src/http/app.ts";
import { door, RESOURCE } from "../support/door.ts";
import { rig } from "../support/rig.ts";
import { of, ROUTES } from "./routes.ts";

test("a route that does not say who may use it stops the app from starting", async () => {
  const { ports } = await rig();
  const parts = {
    ports,
    identify: async () => Promise.reject(new Error("unused")),
    resource: RESOURCE,
    jwks: { keys: [] },
    ready: async () => ({ ready: true, checks: [] }),
  };
  const app = buildApp(parts, (inner) => {
    inner.get("/v1/forgotten", async () => "");
  });

  await expect(app.ready()).rejects.toThrow(
    'GET /v1/forgotten declares no permission: say "public", "session" or which roles',
  );
});

test("every route refuses every role that its permission does not name, and no other", async () => {
  const here = await rig();
  const there = await door(here);
  const roles = ["agent", "operator", "resolver", "approver", "auditor", "policy-admin"];
  const table: Record<string, readonly string[]> = {};

  for (const [route, { body }] of Object.entries(ROUTES).filter(([, { as }]) => as !== null)) {
    const [method = "", path = ""] = route.split(" ");
    if (route === "GET /v1/events") continue;
    const statuses = await Promise.all(
      roles.map(
        async (role) =>
          [
            role,
            (
              await there.call(method, of(path), {
                as: { roles: [role] },
                ...(body === undefined ? {} : { body }),
              })
            ).body.code,
          ] as const,
      ),
    );
    table[route] = statuses.filter(([, code]) => code === "forbidden").map(([role]) => role);
  }

  expect(Object.fromEntries(Object.entries(table).filter(([, refused]) => refused.length > 0))).toEqual({
    "POST /v1/operations/{id}/findings": ["agent", "operator", "approver", "auditor", "policy-admin"],
    "GET /v1/policies": ["agent", "resolver", "approver"],
    "POST /v1/policies": ["agent", "operator", "resolver", "approver", "auditor"],
    "POST /v1/policies/{version}/activate": ["agent", "operator", "resolver", "approver", "auditor"],
    "POST /v1/policies/{version}/replay": ["agent", "operator", "resolver", "approver"],
    "POST /v1/halts": ["agent", "resolver", "approver", "auditor", "policy-admin"],
    "GET /v1/halts": ["agent", "approver", "policy-admin"],
    "POST /v1/halts/{id}/lift": ["agent", "resolver", "approver", "auditor", "policy-admin"],
    "POST /v1/revocations": ["agent", "resolver", "approver", "auditor", "policy-admin"],
    "GET /v1/revocations": ["agent", "resolver", "approver", "policy-admin"],
    "POST /v1/revocations/{id}/lift": ["agent", "resolver", "approver", "auditor", "policy-admin"],
  });
});
