/** A text of somebody else, as a person may look at it. */
export interface Shown {
  /** Nothing in it moves, hides or turns: every code point that could is written as `⟨U+202E⟩`. Nothing is left out. */
  readonly text: string;
  /** What a person should know before they trust their eyes; empty for ordinary text. */
  readonly warnings: readonly string[];
}

// Controls, directions, zero widths, tags, variation selectors, unassigned and private characters, and blanks that are not the space.
const HOSTILE =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0\u115f\u1160]|\u034f|[\u17b4\u17b5]|[\u180b-\u180f]|[\ufe00-\ufe0f]|[\u{e0000}-\u{e0fff}]/gu;

export function shown(text: string): Shown {
  return { text: inert(text), warnings: warningsOf(text) };
}

/** Every code point that could mislead the eye, written out. */
export function inert(text: string): string {
  return text.replace(HOSTILE, (character) => {
    const point = character.codePointAt(0) ?? 0;
    return `⟨U+${point.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

function warningsOf(text: string): readonly string[] {
  const hidden = text.match(HOSTILE)?.length ?? 0;
  const mixed = text.split(/[^\p{L}\p{M}\p{N}]+/u).flatMap(mixture);
  return [
    ...(hidden === 0
      ? []
      : [`${hidden} invisible or direction-changing character${hidden === 1 ? "" : "s"}`]),
    ...mixed.slice(0, WARNINGS_MAX),
    ...(text.normalize("NFC") === text ? [] : ["not in Unicode's normal form"]),
    ...(text.normalize("NFKC") === text.normalize("NFC") ? [] : ["characters that look like others"]),
    ...(/\p{M}{4,}/u.test(text) ? ["stacked combining marks"] : []),
  ];
}

const WARNINGS_MAX = 5;

const SCRIPTS = [
  "Latin",
  "Greek",
  "Cyrillic",
  "Armenian",
  "Hebrew",
  "Arabic",
  "Han",
  "Hiragana",
  "Katakana",
  "Hangul",
  "Thai",
  "Devanagari",
  "Cherokee",
  "Georgian",
].map((name) => [name, new RegExp(`\\p{Script=${name}}`, "u")] as const);

/** Scripts that one word of ordinary text may hold together. */
const TOGETHER = new Set(["Latin", "Han", "Hiragana", "Katakana", "Hangul"]);

/** A word in letters of several scripts: one of them is probably there to look like another. A word wholly in one script is not noticed. */
function mixture(word: string): readonly string[] {
  const found = SCRIPTS.filter(([, script]) => script.test(word)).map(([name]) => name);
  if (found.length < 2 || found.every((name) => TOGETHER.has(name))) return [];
  return [`"${inert(word)}" mixes ${found.join(" and ")} letters`];
}
