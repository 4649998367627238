import type { Json } from "../core/json.ts";
import { itemsOf, refuse, textOf, type Written } from "../core/written.ts";
import { fileOf, type Surroundings } from "./secret.ts";

/** `allowPrivate`: whether something may live at an address that is not public. */
export function privateOf(written: Written | undefined): boolean | readonly string[] {
  if (written === undefined) return false;
  if (typeof written.value === "boolean") return written.value;
  if (!Array.isArray(written.value as Json))
    return refuse(written, "write true, false or a list of addresses, networks and hosts");
  return itemsOf(written).map(textOf);
}

/** `ca`: certificates trusted instead of the system's. */
export function certificatesOf(written: Written, around: Surroundings): string {
  const text = fileOf(written, around);
  if (!text.includes("-----BEGIN CERTIFICATE-----"))
    refuse(written, "the file holds no certificate in PEM form");
  return text;
}
