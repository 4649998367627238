// The figures of all slots as one table: medians over the rounds.

/** One line for each candidate, kind and number of callers. */
export function table(slots) {
  const groups = Map.groupBy ? undefined : undefined;
  void groups;
  const cells = new Map();
  for (const slot of slots) {
    const key = `${slot.kind} ${slot.name} ${slot.callers}`;
    cells.set(key, [...(cells.get(key) ?? []), slot]);
  }
  const lines = [...cells.values()].map(line);
  for (const each of lines) {
    const best = (is) =>
      Math.max(
        0,
        ...lines
          .filter((other) => other.is === is && other.kind === each.kind)
          .map((other) => other.perSecond),
      );
    each.floors = ratio(each.perSecond, best("floor"));
    each.smallFloors = ratio(each.perSecond, best("small"));
  }
  return lines;
}

function line(slots) {
  const [{ name, is, kind, callers }] = slots;
  const over = (pick) => median(slots.map(pick));
  const sum = (pick) => slots.reduce((total, slot) => total + pick(slot), 0);
  const n = sum((slot) => slot.n);
  return {
    name,
    is,
    kind,
    callers,
    perSecond: over((slot) => slot.perSecond),
    p50: over((slot) => slot.p50),
    p99: over((slot) => slot.p99),
    nodeUs: over((slot) => slot.nodeUs),
    postgresUs: over((slot) => slot.postgresUs),
    // The server tells its backends' counts late, so only the sum over all rounds says something.
    syncsEach: sum((slot) => slot.syncs) / n,
    walBytesEach: sum((slot) => slot.walBytes) / n,
    rssMb: over((slot) => slot.rssMb),
    othersShare: over((slot) => slot.othersShare),
  };
}

function ratio(perSecond, floor) {
  return floor > 0 ? perSecond / floor : undefined;
}

function median(values) {
  const sorted = values.filter((value) => value !== undefined).sort((a, b) => a - b);
  if (sorted.length === 0) return undefined;
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

const COLUMNS = [
  ["", (line) => line.name],
  ["callers", (line) => String(line.callers)],
  ["ops/s", (line) => line.perSecond.toFixed(0)],
  ["p50 ms", (line) => line.p50.toFixed(1)],
  ["p99 ms", (line) => line.p99.toFixed(1)],
  ["x floor", (line) => shown(line.floors, 2)],
  ["x 3 rows", (line) => shown(line.smallFloors, 2)],
  ["Node us", (line) => shown(line.nodeUs, 0)],
  ["PG us", (line) => shown(line.postgresUs, 0)],
  ["fsync", (line) => shown(line.syncsEach, 3)],
  ["WAL B", (line) => shown(line.walBytesEach, 0)],
  ["RSS MB", (line) => shown(line.rssMb, 0)],
  ["others", (line) => (line.othersShare === undefined ? "" : `${(line.othersShare * 100).toFixed(0)}%`)],
];

function shown(value, digits) {
  return value === undefined || Number.isNaN(value) ? "" : value.toFixed(digits);
}

export function printed(lines) {
  const rows = [
    COLUMNS.map(([title]) => title),
    ...lines.map((line) => COLUMNS.map(([, cell]) => cell(line))),
  ];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])))
        .join("  "),
    )
    .join("\n");
}
