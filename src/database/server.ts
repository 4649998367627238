import type { Database } from "./pool.ts";
import { sql } from "./sql.ts";

/** What the safety of a commit rests on, as the server says it; `writ doctor` judges. */
export interface ServerFacts {
  /** As 150020 for 15.20. */
  readonly versionNum: number;
  readonly fsync: boolean;
  /** `on` at least, or an acknowledged commit may be lost in a crash. */
  readonly synchronousCommit: string;
  readonly fullPageWrites: boolean;
  /** A standby; it takes no writes. */
  readonly inRecovery: boolean;
  /** Empty when commits wait for no standby. */
  readonly synchronousStandbyNames: string;
  /** Connected standbys; the server shows their states only to a role with pg_monitor. */
  readonly standbys: readonly Standby[];
  readonly maxConnections: number;
  readonly dataChecksums: boolean;
}

interface Standby {
  readonly name: string;
  readonly state: string | null;
  readonly syncState: string | null;
}

export async function serverFacts(db: Database): Promise<ServerFacts> {
  const { rows } = await db.read<ServerFacts>(sql`
    select current_setting('server_version_num')::int as "versionNum",
           current_setting('fsync')::bool as "fsync",
           current_setting('synchronous_commit') as "synchronousCommit",
           current_setting('full_page_writes')::bool as "fullPageWrites",
           pg_is_in_recovery() as "inRecovery",
           current_setting('synchronous_standby_names') as "synchronousStandbyNames",
           current_setting('max_connections')::int as "maxConnections",
           current_setting('data_checksums')::bool as "dataChecksums",
           (select coalesce(jsonb_agg(jsonb_build_object(
              'name', application_name, 'state', state, 'syncState', sync_state)), '[]')
              from pg_stat_replication) as "standbys"`);
  const [facts] = rows;
  if (facts === undefined) throw new TypeError("a select without a from has one row");
  return facts;
}
