/** The cookies of one installation, named after the address under which it is reached. */
export interface Cookies {
  /** The one value of this name, or undefined: two are none, for somebody else may have set one of them. */
  read(header: string | undefined, name: CookieName): string | undefined;
  /** A whole Set-Cookie value. `forMs` undefined: until the browser ends. */
  write(name: CookieName, value: string, forMs?: number): string;
  clear(name: CookieName): string;
}

/** `session`: a person's browser. `login`: between begin and end of a login. */
type CookieName = "session" | "login";

const VALUE = /^[A-Za-z0-9._~-]{1,4000}$/;

/**
 * Over https they carry the `__Host-` prefix: no other host of the domain, and nothing over http, can set or read one. On this machine's
 * own address a browser offers no such wall; there the name holds the port, because a browser sends cookies to every port alike.
 */
export function cookiesOf(publicUrl: () => string): Cookies {
  const secure = (): boolean => publicUrl().startsWith("https:");
  const nameOf = (name: CookieName): string =>
    secure() ? `__Host-writ-${name}` : `writ-${name}-${new URL(publicUrl()).port || "80"}`;
  // A login ends with a navigation that the issuer begins: only there Strict would keep the cookie away.
  const attributes = (name: CookieName): string =>
    `Path=/; HttpOnly; SameSite=${name === "login" ? "Lax" : "Strict"}${secure() ? "; Secure" : ""}`;
  return {
    read: (header, name) => {
      const wanted = `${nameOf(name)}=`;
      const found = (header ?? "").split(";").flatMap((pair) => {
        const text = pair.trim();
        return text.startsWith(wanted) ? [text.slice(wanted.length)] : [];
      });
      const [value = ""] = found;
      return found.length === 1 && VALUE.test(value) ? value : undefined;
    },
    write: (name, value, forMs) =>
      `${nameOf(name)}=${value}; ${attributes(name)}${forMs === undefined ? "" : `; Max-Age=${Math.floor(forMs / 1000)}`}`,
    clear: (name) => `${nameOf(name)}=; ${attributes(name)}; Max-Age=0`,
  };
}
