import type { Rig } from "./rig.ts";

/** The database's clock of one test: it runs as always, and it jumps when it is told to. */
export interface DatabaseClock {
  ahead(ms: number): Promise<void>;
}

// A sequence is outside of every snapshot: a statement that waited for a lock sees the jump that was made meanwhile.
const AHEAD = "(select last_value from test_ahead) * interval '1 ms'";

/** Replaces the two functions through which all SQL of Writ asks for the time, in this database only. */
export async function movableClock(here: Pick<Rig, "run">): Promise<DatabaseClock> {
  await here.run("create sequence test_ahead minvalue 0 start 0");
  // Whoever may ask for the time may ask how far it jumped.
  await here.run("grant select on sequence test_ahead to public");
  await here.run(
    `create or replace function writ_now() returns timestamptz language sql stable as $$ select statement_timestamp() + ${AHEAD} $$`,
  );
  await here.run(
    `create or replace function writ_clock() returns timestamptz language sql volatile as $$ select clock_timestamp() + ${AHEAD} $$`,
  );
  let total = 0;
  return {
    ahead: async (ms) => {
      total += ms;
      await here.run("select setval('test_ahead', $1)", [total]);
    },
  };
}
