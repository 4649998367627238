import { expect, onTestFinished } from "vitest";
import type { Database } from "../../src/database/pool.ts";
import { type Query, statement } from "../../src/database/sql.ts";

/** The statements that `work` would send in one flight; nothing is sent. For tests that hold a transaction open between two of them. */
export async function flown(work: (database: Database) => Promise<unknown>): Promise<readonly Query[]> {
  let seen: readonly Query[] | undefined;
  const refuse = (): Promise<never> => Promise.reject(new Error("only one flight was expected"));
  const database: Database = {
    flight: (queries) => {
      seen = queries;
      return Promise.reject(new Error("caught before it left"));
    },
    read: refuse,
    readWithin: refuse,
    transaction: refuse,
    close: async () => undefined,
  };
  await work(database).catch(() => undefined);
  if (seen === undefined) throw new Error("nothing was sent");
  return seen;
}

/** Our own statement with one rule taken out of it: what the rule is for must then go wrong. */
export function broken(queries: readonly Query[], rule: string, without: string): readonly Query[] {
  if (!queries.some(({ text }) => text.includes(rule)))
    throw new Error(`no statement says "${rule}" any more`);
  return queries.map(({ text, values }) => statement(text.replaceAll(rule, without), values));
}

/** A database in which every statement of ours that says `rule` is sent without it. The test fails if none says it any more. */
export function breaking(database: Database, rule: string, without: string): Database {
  let met = false;
  onTestFinished(() => expect({ rule, met }).toEqual({ rule, met: true }));
  const change = (queries: readonly Query[]): readonly Query[] =>
    queries.map((query) => {
      if (!query.text.includes(rule)) return query;
      met = true;
      return statement(query.text.replaceAll(rule, without), query.values);
    });
  return {
    read: (query) => database.read(query),
    readWithin: (tenantId, query) => database.readWithin(tenantId, query),
    close: () => database.close(),
    flight: (queries) => database.flight(change(queries)),
    transaction: (work) =>
      database.transaction((tx) =>
        work({
          query: (query) => tx.query(query),
          all: (queries) => tx.all(change(queries)),
          finish: (queries) => tx.finish(change(queries)),
        }),
      ),
  };
}
