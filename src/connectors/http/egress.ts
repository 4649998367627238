import { lookup as systemLookup } from "node:dns";
import { BlockList, isIP, type LookupFunction, type Socket } from "node:net";
import { buildConnector } from "undici";

/** Where a provider may live. Only public addresses, unless the operator says otherwise. */
export interface EgressRule {
  /**
   * `true`: private networks and this machine too. A list names addresses ("127.0.0.1"), networks ("10.0.0.0/8") and hosts ("shop.internal").
   * Link-local (where clouds keep their metadata), unspecified, broadcast and multicast addresses need to be named in a list by address.
   */
  readonly allowPrivate?: boolean | readonly string[];
  /** Resolves a host; only tests bring their own. */
  readonly resolve?: Resolve;
}

type Resolve = (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;

/** Why a connection to this address is refused, or undefined. `host` is the name it was asked for. */
export type Guard = (host: string, address: string) => string | undefined;

// The special-purpose registries of IANA (RFC 6890 and its updates), as far as they hold addresses that are not for the public.
const PRIVATE = networks([
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "::1/128",
  "fc00::/7",
]);
const NEVER = networks([
  "0.0.0.0/8",
  "169.254.0.0/16",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "fd00:ec2::/32",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
]);
// Outside this nothing of IPv6 is public: mapped and translated IPv4 (::ffff:0:0/96, 64:ff9b::/96), link-local and multicast lie outside.
const PUBLIC_V6 = networks(["2000::/3"]);

function networks(list: readonly string[]): BlockList {
  const block = new BlockList();
  for (const entry of list) {
    const [address = "", prefix] = entry.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    block.addSubnet(address, prefix === undefined ? (family === "ipv6" ? 128 : 32) : Number(prefix), family);
  }
  return block;
}

function holds(block: BlockList, address: string): boolean {
  return block.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** Throws a RangeError or TypeError for a list with an entry that is neither an address, a network nor a host. */
export function egressGuard({ allowPrivate = false }: EgressRule): Guard {
  const list = typeof allowPrivate === "object" ? allowPrivate : [];
  const named = networks(list.filter((entry) => isIP(entry.split("/")[0] ?? "") !== 0));
  const hosts = new Set(list.map((entry) => entry.toLowerCase()));
  return (host, address) => {
    if (isIP(address) === 0) return `"${address}" is not an address`;
    // A mapped address is never public, and its IPv4 half must not borrow permission from a list of IPv4 networks.
    const mapped = isIP(address) === 6 && /^::ffff:/i.test(address);
    if (!mapped && holds(named, address)) return undefined;
    const says = `the address ${address} is not public, and the provider's settings do not allow it`;
    if (mapped || holds(NEVER, address)) return says;
    if (holds(PRIVATE, address))
      return allowPrivate === true || hosts.has(host.toLowerCase()) ? undefined : says;
    return isIP(address) === 6 && !holds(PUBLIC_V6, address) ? says : undefined;
  };
}

function refusal(why: string): Error {
  return Object.assign(new Error(why), { code: "WRIT_EGRESS" });
}

/**
 * Connects to addresses that the guard has seen, and to no others: a literal address is checked at once, a name is resolved here and the
 * very addresses that were checked are connected to (a second answer of the name server changes nothing), and the address of the
 * established connection is checked again. One refused address refuses the name.
 */
export function guardedConnector(
  rule: EgressRule,
  connectMs: number,
  ca: string | undefined,
): buildConnector.connector {
  const guard = egressGuard(rule);
  const base = buildConnector({
    lookup: guardedLookup(guard, rule.resolve ?? systemResolve),
    timeout: connectMs,
    allowH2: false,
    autoSelectFamily: true,
    // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in somebody's environment cannot unsay it.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  } as buildConnector.BuildOptions); // Its type wants the port here; the client gives it with each call.
  return (options, done) => {
    const host = options.hostname.replace(/^\[|\]$/g, "");
    const why = isIP(host) === 0 ? undefined : guard(host, host);
    if (why !== undefined) {
      queueMicrotask(() => done(refusal(why), null));
      return;
    }
    base(options, (...[error, socket]) => {
      if (error !== null || socket === null) return done(error ?? new Error("no connection"), null);
      const late = guard(host, remoteOf(socket));
      if (late === undefined) return done(null, socket);
      socket.destroy();
      done(refusal(late), null);
    });
  };
}

function remoteOf(socket: Socket): string {
  return socket.remoteAddress ?? "(no address)";
}

function guardedLookup(guard: Guard, resolve: Resolve): LookupFunction {
  return (host, options, done) => {
    const wanted = options.family === 4 || options.family === 6 ? options.family : undefined;
    resolve(host).then(
      (all) => {
        const usable = all.filter(({ family }) => wanted === undefined || family === wanted);
        const why = all.map(({ address }) => guard(host, address)).find((word) => word !== undefined);
        const [first] = usable;
        if (why !== undefined) done(refusal(why), "", 0);
        else if (first === undefined)
          done(Object.assign(new Error(`${host} has no address`), { code: "ENOTFOUND" }), "", 0);
        else if (options.all === true) done(null, [...usable]);
        else done(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => done(error, "", 0),
    );
  };
}

function systemResolve(host: string): ReturnType<Resolve> {
  return new Promise((resolve, reject) => {
    systemLookup(host, { all: true }, (error, addresses) =>
      error === null ? resolve(addresses) : reject(error),
    );
  });
}
