/** One setting as operators write it, and as docs/configuration.md tells it. */
export interface Setting {
  /** What is written there. */
  readonly takes: string;
  /** As it would be written; `null` where nothing is the default. */
  readonly default: string | number | boolean | null;
  /** Must be written. */
  readonly must?: true;
  readonly sentence: string;
  /** The variable that overrides it. */
  readonly variable?: string;
  /** Only for providers of these kinds. */
  readonly kinds?: readonly string[];
}

export type Table = Readonly<Record<string, Setting>>;

/** The names that may stand at a place: the table's own, one step below. */
export function namesAt(table: Table, path: string): readonly string[] {
  const prefix = path === "" ? "" : `${path}.`;
  return Object.keys(table).flatMap((key) => {
    if (!key.startsWith(prefix)) return [];
    const name = key.slice(prefix.length);
    return /^[A-Za-z]+$/.test(name) ? [name] : [];
  });
}
