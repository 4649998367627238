// RFC 5321 4.1.2: a dot-string before the "@", labels after it. Quoted local parts, literals, routes and comments are mail too, and are
// read differently by different servers: they are refused.
const ATOM = "[A-Za-z0-9!#$&'*+/=?^_`{|}~-]+";
const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const ADDRESS = new RegExp(`^(${ATOM}(?:\\.${ATOM})*)@((?:${LABEL}\\.)*${LABEL})$`);

/** Why this is not exactly one plain mail address; undefined when it is one. Two addresses, line ends and look-alikes never are. */
export function checkAddress(address: string): string | undefined {
  const [, local = "", domain = ""] = ADDRESS.exec(address) ?? [];
  if (local === "") return "it is not one plain address in ASCII, such as ann@example.org";
  // RFC 5321 4.5.3.1: 64 octets before the "@", 255 after it, 254 in all between "<" and ">".
  if (local.length > 64 || domain.length > 253 || address.length > 254)
    return "it is longer than an address may be";
  return undefined;
}
