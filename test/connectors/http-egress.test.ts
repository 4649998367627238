import { describe, expect, test } from "vitest";
import { egressGuard } from "../../src/connectors/http/egress.ts";
import { httpConnector } from "../../src/connectors/http.ts";
import { Problem } from "../../src/core/problem.ts";
import { errandOf, living, preset } from "./errand.ts";
import { connectorTo, shop } from "./rig.ts";

const NONE = preset("http/no-guarantees", living("5s"));

describe("an address that is not public is refused unless the settings allow it", () => {
  test.each([
    "127.0.0.1",
    "127.8.9.1",
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "0.0.0.0",
    "0.1.2.3",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::7f00:1",
    "fe80::1",
    "fd00:ec2::254",
    "fc00::1",
    "2002:7f00:1::",
    "2001::1",
    "2001:db8::1",
    "ff02::1",
    "shop.internal",
  ])("%s", (address) => {
    expect(egressGuard({})("shop.example", address)).toBeDefined();
  });

  test.each([
    "8.8.8.8",
    "100.63.255.255",
    "172.32.0.1",
    "192.169.0.1",
    "2606:4700::1111",
    "2a00:1450:4001::200e",
  ])("%s is public", (address) => {
    expect(egressGuard({})("shop.example", address)).toBeUndefined();
  });
});

test("allowPrivate: true opens private networks and this machine, never metadata, unspecified or mapped addresses", () => {
  const guard = egressGuard({ allowPrivate: true });

  for (const address of ["127.0.0.1", "::1", "10.0.0.1", "100.64.0.1", "fd12::1"])
    expect(guard("h", address)).toBeUndefined();
  for (const address of [
    "169.254.169.254",
    "fd00:ec2::254",
    "0.0.0.0",
    "::",
    "fe80::1",
    "224.0.0.1",
    "::ffff:10.0.0.1",
  ])
    expect(guard("h", address)).toBeDefined();
});

test("a list opens exactly what it names: an address, a network, a host", () => {
  const guard = egressGuard({ allowPrivate: ["127.0.0.1", "10.1.0.0/16", "shop.internal"] });

  expect([guard("x", "127.0.0.1"), guard("x", "10.1.200.3"), guard("SHOP.internal", "192.168.3.4")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  for (const [host, address] of [
    ["x", "127.0.0.2"],
    ["x", "10.2.0.1"],
    ["x", "192.168.3.4"],
    ["shop.internal", "169.254.169.254"],
  ] as const)
    expect(guard(host, address)).toBeDefined();
});

test.each(["127.0.0.1", "2130706433", "0x7f.1", "127.1", "0", "[::1]", "[::ffff:7f00:1]", "localhost"])(
  "the loopback address written as %s is never reached",
  async (host) => {
    const provider = await shop();

    const learned = await connectorTo(`http://${host}:${provider.port}`, { allowPrivate: false }).perform(
      errandOf(NONE),
    );

    expect(learned).toMatchObject({ kind: "absent", why: expect.stringContaining("not public") });
    expect(provider.connections()).toBe(0);
  },
);

test("a name server that changes its answer gains nothing: the address that was checked is the one connected to", async () => {
  const provider = await shop();
  const answers = ["127.0.0.2", "127.0.0.1"];
  const asked: string[] = [];
  const resolve = (host: string) => {
    asked.push(host);
    return Promise.resolve([{ address: answers[asked.length - 1] ?? "127.0.0.1", family: 4 }]);
  };

  const learned = await connectorTo(`http://rebind.example:${provider.port}`, { resolve }).perform(
    errandOf(NONE),
  );

  expect(learned).toMatchObject({ kind: "absent", why: expect.stringContaining("127.0.0.2") });
  expect([asked, provider.connections()]).toEqual([["rebind.example"], 0]);
});

test("one private address among public ones refuses the name", async () => {
  const resolve = () =>
    Promise.resolve([
      { address: "93.184.216.34", family: 4 },
      { address: "10.0.0.1", family: 4 },
    ]);

  const learned = await connectorTo("http://mixed.example", { resolve, allowPrivate: false }).perform(
    errandOf(NONE),
  );

  expect(learned).toMatchObject({ kind: "absent", why: expect.stringContaining("10.0.0.1") });
});

test("a host that the settings name is reached at its private address", async () => {
  const provider = await shop();
  const resolve = () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]);

  const learned = await connectorTo(`http://shop.internal:${provider.port}`, {
    resolve,
    allowPrivate: ["shop.internal"],
  }).perform(errandOf(NONE));

  expect(learned.kind).toBe("confirmed");
  expect(provider.requests()[0]?.headers.host).toBe(`shop.internal:${provider.port}`);
});

test.each([
  ["file:///etc/passwd", "http or https"],
  ["ftp://shop.example", "http or https"],
  ["shop.example", "http or https"],
  ["https://user:pass@shop.example", "credential"],
  ["https://shop.example/?x=1", "path"],
  ["https://shop.example/#x", "path"],
])("the base %s is refused", (base, why) => {
  expect(() => httpConnector({ base })).toThrow(Problem);
  expect(() => httpConnector({ base })).toThrow(why);
});

test.each(["a\r\nX-Evil: 1", "", "é"])(
  "a credential that cannot stand in a header is refused, without showing it",
  (bearer) => {
    const make = () =>
      httpConnector({ base: "https://shop.example", auth: { header: { name: "X-Token", value: bearer } } });

    expect(make).toThrow("cannot stand in a header");
  },
);

test("a contract that writes the credential's header itself is refused before anything is sent", async () => {
  const provider = await shop();
  const request = {
    method: "POST",
    url: "{{base}}/orders",
    headers: { Authorization: "Bearer {{args.item}}" },
    body: "{{args}}",
  };
  const contract = preset("http/no-guarantees", { ...living("5s"), request });

  const learned = await connectorTo(provider.url, { auth: { bearer: "tok_verysecret" } }).perform(
    errandOf(contract),
  );

  expect(learned).toMatchObject({
    kind: "refused",
    detail: expect.stringContaining("both write authorization"),
  });
  expect(provider.connections()).toBe(0);
});
