import { expect, test } from "vitest";
import { inert, shown } from "../../src/core/display.ts";

test.each([
  ["ordinary text", "wh_eu/item_1", "wh_eu/item_1", 0],
  ["accents in normal form", "café", "café", 0],
  ["ordinary Japanese", "東京ラベルA", "東京ラベルA", 0],
  ["a direction that is turned", "pay\u202e001\u202c", "pay⟨U+202E⟩001⟨U+202C⟩", 1],
  ["a zero width", "a\u200bb", "a⟨U+200B⟩b", 1],
  ["a new line", "line1\nline2", "line1⟨U+000A⟩line2", 1],
  ["a blank that is a letter", "A\u3164B", "A⟨U+3164⟩B", 2],
  ["tags", "x\u{e0041}\u{e0042}", "x⟨U+E0041⟩⟨U+E0042⟩", 1],
  ["a terminal's escape", "\u001b[2Jgone", "⟨U+001B⟩[2Jgone", 1],
  ["a letter of another script", "wh_eu/\u0456tem_1", "wh_eu/\u0456tem_1", 1],
  ["a wide letter", "ｉtem", "ｉtem", 1],
  ["an accent apart", "cafe\u0301", "cafe\u0301", 1],
  ["a tower of accents", `item${"\u0301".repeat(5)}`, `item${"\u0301".repeat(5)}`, 2],
  ["a lone surrogate", "a\ud800b", "a⟨U+D800⟩b", 1],
  ["markup", "<b onclick=x>[a](javascript:y)</b>", "<b onclick=x>[a](javascript:y)</b>", 0],
])("C037, C039: %s is shown for what it is", (_name, text, expected, warnings) => {
  expect(shown(text).text).toBe(expected);
  expect(shown(text).warnings).toHaveLength(warnings);
});

test("nothing is left out, whatever stands there", () => {
  for (let point = 0; point < 0x3000; point++) {
    const character = String.fromCodePoint(point);
    const text = inert(`a${character}b`);
    expect(
      text === `a${character}b` || text === `a⟨U+${point.toString(16).toUpperCase().padStart(4, "0")}⟩b`,
    ).toBe(true);
  }
});
