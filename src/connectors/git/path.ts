import { unwritable } from "../variable.ts";

const PATH_MAX = 1024;
const SEGMENT_MAX = 255;

/**
 * A file's path inside a commit: relative, of plain segments, the same on every file system. Throws `invalid` for one that climbs, that
 * somebody's checkout could read as git's own folder, or that is outside of what the operator allows.
 */
export function checkPath(path: string, allowed: readonly string[] | undefined): string {
  const no = (says: string): never => unwritable(`the path ${JSON.stringify(path.slice(0, 80))} ${says}`);
  if (path === "" || Buffer.byteLength(path) > PATH_MAX) no(`is empty or longer than ${PATH_MAX} bytes`);
  // Control and format characters, line separators, private and unassigned ones: they hide, reorder or end lines.
  if (!path.isWellFormed() || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/u.test(path))
    no("holds a character that cannot be seen");
  if (path !== path.normalize("NFC")) no("has two spellings (it is not in NFC)");
  if (/[\\:*?"<>|]/.test(path)) no("holds a character that some file systems read as something else");
  if (path.startsWith("/") || path.endsWith("/")) no("is absolute or ends with a slash");
  for (const segment of path.split("/")) {
    if (Buffer.byteLength(segment) > SEGMENT_MAX) no(`has a part longer than ${SEGMENT_MAX} bytes`);
    if (climbs(segment)) no("has an empty part, or one that climbs");
    if (isGitFolder(segment)) no("has a part that could be read as git's own folder");
    if (/[. ]$/.test(segment)) no("has a part that ends with a dot or a space, which some file systems drop");
  }
  if (allowed !== undefined && !allowed.some((rule) => covers(rule, path)))
    no("is outside of what the provider's settings allow");
  return path;
}

/** Look-alikes fold to what they look like: U+2024 is a dot to some, U+FF0F a slash. */
function climbs(segment: string): boolean {
  const folded = segment.normalize("NFKC");
  return (
    segment === "" || segment === "." || segment === ".." || /^\.{1,2}$/.test(folded) || folded.includes("/")
  );
}

/** `.git` in any case, its NTFS short names, and what folds to them. HFS+ ignores format characters, which are refused before. */
function isGitFolder(segment: string): boolean {
  const folded = segment
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[. ]+$/, "");
  return /^(\.git|git~\d+|\.gitmodules|gitmod~\d+|gi7eba~\d+)$/.test(folded);
}

/** `config/` allows all beneath it, `config/app.json` exactly itself. */
function covers(rule: string, path: string): boolean {
  return rule.endsWith("/") ? path.startsWith(rule) : path === rule;
}

/** A branch's name by git-check-ref-format(1), in ASCII. */
export function checkBranch(branch: string, allowed: readonly string[] | undefined): string {
  const no = (says: string): never => unwritable(`the branch ${JSON.stringify(branch.slice(0, 80))} ${says}`);
  if (!/^[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$/.test(branch))
    no("is not a plain name of at most 200 characters");
  if (/\.\.|\/\/|\/\.|\.$|\/$|\.lock(\/|$)|^HEAD$|^refs\//.test(branch)) no("is not a name that git takes");
  if (allowed !== undefined && !allowed.includes(branch)) no("is not one that the provider's settings allow");
  return branch;
}
