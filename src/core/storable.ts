/**
 * A value as every store can keep it: PostgreSQL's jsonb and text hold neither U+0000 nor half a surrogate pair. What somebody else
 * wrote may hold both, and must not keep us from writing down that they answered. Each such character becomes U+FFFD.
 */
export function storable<T>(value: T): T {
  if (typeof value === "string") return storableText(value) as T & string;
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(storable) as T & unknown[];
  const members = Object.entries(value).map(([name, member]) => [storableText(name), storable(member)]);
  return Object.fromEntries(members) as T; // The same members; only texts were mended.
}

function storableText(text: string): string {
  return text.includes("\0") || !text.isWellFormed() ? text.toWellFormed().replaceAll("\0", "\ufffd") : text;
}
