// The laws of the house that Biome and the compiler cannot keep. Each one reads a file and gives its complaints.
// Their tests, and for each a broken example that must be refused, are in house.test.ts and examples/.

type Complaint = { readonly line: number; readonly what: string };
export type Law = (path: string, text: string) => Complaint[];

const LINES_MAX = 300;

const noLongFile: Law = (_path, text) => {
  const lines = text.trimEnd().split("\n").length;
  return lines > LINES_MAX
    ? [{ line: lines, what: `${lines} lines; ${LINES_MAX} are enough for one duty` }]
    : [];
};

const EMPTY_NAMES = new Set([
  "util",
  "utils",
  "helper",
  "helpers",
  "type",
  "types",
  "common",
  "misc",
  "index",
]);

/** A name that says nothing collects everything. */
const noEmptyName: Law = (path) => {
  if (path === "src/index.ts") return [];
  const names = path.split("/").map((part) => part.split(".")[0] ?? "");
  return names
    .filter((name) => EMPTY_NAMES.has(name))
    .map((name) => ({ line: 1, what: `"${name}" names no duty` }));
};

/** A test is left out in the open, through test/support/needs.ts, or not at all. */
const noSilencedTest: Law = (path, text) => {
  if (!path.startsWith("test/") || path === "test/support/needs.ts") return [];
  return found(code(text), [
    [/\.\s*(skip|todo|only|skipIf|runIf)\b/g, "only test/support/needs.ts may leave a test out"],
    [/\[\s*["'`](skip|todo|only|skipIf|runIf)["'`]\s*\]/g, "only test/support/needs.ts may leave a test out"],
    [/\b(skip|todo|only)\s*:\s*true\b/g, "only test/support/needs.ts may leave a test out"],
    [/\b(xit|xtest|xdescribe|fit|fdescribe)\s*\(/g, "only test/support/needs.ts may leave a test out"],
  ]);
};

/** Biome's noRestrictedImports and noImportCycles do not see these, so src has none of them, whatever they name. */
const noEscapedImport: Law = (path, text) => {
  if (!path.startsWith("src/")) return [];
  return found(code(text), [
    [/\bimport\s*\([^)]*\)\s*\.\s*(?!then\b|catch\b|finally\b)/g, "an import type; write `import type`"],
    [/\btypeof\s+import\s*\(/g, "an import type; write `import type`"],
    [/\bimport\s*\(\s*(?!["'])/g, "an import with a computed name"],
    [/(?<![.\w])require\s*\(|\b(createRequire|getBuiltinModule)\b/g, "only `import` brings a module in"],
    [/^[ \t]*\/\/\/\s*<reference\b/gm, "a reference comment; write `import type`"],
  ]);
};

/** The core is told: it does not look at a clock, a coin or the world, and it does not wait. */
const noImpureCore: Law = (path, text) => {
  if (!path.startsWith("src/core/")) return [];
  return found(code(text), [
    [
      /\bDate\s*\.\s*now\b|\bnew\s+Date\s*\(\s*\)|\bDate\s*\(\s*\)|\bperformance\s*\./g,
      "the core has no clock",
    ],
    [/\bMath\s*\.\s*random\b|\brandom(UUID|Bytes|Int)\b|\bgetRandomValues\b/g, "the core has no randomness"],
    [/\basync\b|\bawait\b|\bPromise\s*[.<]|\bset(Timeout|Interval|Immediate)\b/g, "the core does not wait"],
    [/\bprocess\s*\.\s*\w|\bfetch\s*\(|\bglobalThis\b/g, "the core does not touch the world"],
  ]);
};

/** The client is copied into browsers: types of wire.ts cost nothing there, its values bring TypeBox along. */
const noHeavyClient: Law = (path, text) => {
  if (path !== "src/client.ts") return [];
  return found(code(text), [
    [/^[ \t]*(import|export)\s+(?!type\b)([^;]*?\bfrom\s*)?["']/gm, "the client imports types only"],
  ]);
};

export const LAWS = { noLongFile, noEmptyName, noSilencedTest, noEscapedImport, noImpureCore, noHeavyClient };

function found(text: string, patterns: readonly (readonly [RegExp, string])[]): Complaint[] {
  return patterns.flatMap(([pattern, what]) =>
    [...text.matchAll(pattern)].map(({ index }) => ({ line: text.slice(0, index).split("\n").length, what })),
  );
}

/** The text without its comments, line for line. Reference comments stay: the compiler obeys them. */
function code(text: string): string {
  const blank = (comment: string) => comment.replace(/[^\n]/g, " ");
  return text.replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, blank).replace(/(^|\s)\/\/(?!\/\s*<).*$/gm, blank);
}
