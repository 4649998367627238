import type { PostgresServer } from "./postgres.ts";

/** A table that keeps a journal of every write to it: what is counted there is what happened. */
export const STOCK = [
  `create table stock (tenant_id text not null, item text not null, available int not null check (available >= 0),
     version int not null, operation text, primary key (tenant_id, item))`,
  "create table stock_journal (item text not null, operation text, available int not null)",
  `create function keep_journal() returns trigger language plpgsql as $$
     begin insert into stock_journal values (new.item, new.operation, new.available); return new; end $$`,
  "create trigger stock_kept before update on stock for each row execute function keep_journal()",
] as const;

/** What a tool over it says. */
export const STOCK_SQL = {
  read: "select available, version from stock where tenant_id = :tenant and item = :item",
  perform: `update stock set available = :available, version = version + 1, operation = :operation
    where tenant_id = :tenant and item = :item and version = :expectedVersion returning available, version`,
};

/** Somebody else's write, which names no operation of ours. */
export async function setStock({ run }: PostgresServer, item: string, available: number): Promise<void> {
  await run("update stock set available = $2, version = version + 1, operation = null where item = $1", [
    item,
    available,
  ]);
}
