import { test } from "vitest";
import { killPostgres } from "./kill-postgres.ts";

test("PostgreSQL killed twenty times under work: no acknowledged operation is lost, no effect is doubled", () =>
  killPostgres(20));
