/**
 * A value as every store can keep it. What somebody else wrote may hold what PostgreSQL's text and JSON cannot (U+0000, half a surrogate
 * pair, NaN, bytes), and must not keep us from writing down that they answered. Such a character becomes U+FFFD, such a number its name.
 */
export function storable<T>(value: T): T {
  return kept(value) as T; // The same shape; only texts and numbers that no JSON has were mended.
}

function kept(value: unknown): unknown {
  if (typeof value === "string") return keptText(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(kept);
  if ("toJSON" in value && typeof value.toJSON === "function") return kept(value.toJSON());
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [keptText(name), kept(member)]));
}

function keptText(text: string): string {
  return text.includes("\0") || !text.isWellFormed() ? text.toWellFormed().replaceAll("\0", "\ufffd") : text;
}
