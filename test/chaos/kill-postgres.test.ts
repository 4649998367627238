import { test } from "vitest";
import { killPostgres } from "./kill-postgres.ts";

test(
  "C151: PostgreSQL killed four times under work: no acknowledged operation is lost, no effect is doubled",
  {
    timeout: 120_000,
  },
  () => killPostgres(4),
);
