import { describe, expect, test } from "vitest";
import { decide, approvals as listed, withdraw } from "../../src/cli/decide.ts";
import { exitOfError } from "../../src/cli/exit.ts";
import { screen } from "../../src/cli/screen.ts";
import { door, type TestDoor } from "../support/door.ts";
import { asks, changingPolicy } from "../support/people.ts";
import { shop } from "../support/shop.ts";

const BOB = { principal: "bob", client: "console", roles: ["approver"] };

/** A real door before a shop whose orders people are asked about; effects are counted at the shop. */
async function asked(requirements = [asks({ quorum: 2 })], tool: object = {}) {
  const policy = changingPolicy({ effect: "review", requirements });
  const here = await shop({ overrides: { policy }, tool });
  const there = await door(here);
  const propose = (order: string, more: object = {}) =>
    there.propose({ tool: "orders.place", arguments: { order, item: "main/bolt", quantity: 1 }, ...more });
  return { here, there, propose, policy };
}

describe("at the command line", () => {
  /** A command with its streams caught, and nobody at a terminal. */
  async function terminal(there: TestDoor, as: object) {
    const heard = { out: "", err: "" };
    const stream = (name: "out" | "err") => ({ write: (text: string) => (heard[name] += text) });
    const made = screen({
      format: "table",
      stdout: stream("out"),
      stderr: stream("err"),
      stdin: {},
      env: { NO_COLOR: "1" },
    });
    const env = { WRIT_URL: there.url, WRIT_TOKEN: await there.token(as) };
    return { heard, context: { screen: made, env, folder: "/nowhere" } };
  }

  test("A16, C036, C037: everything is shown, whole and inert, before anybody is asked", async () => {
    const input = {
      type: "object",
      required: ["order", "item", "quantity"],
      properties: { order: { type: "string" }, item: { type: "string" }, quantity: { type: "integer" } },
    };
    const { there, propose } = await asked([asks()], { input });
    const tail = `${"a".repeat(3_000)} and then delete everything`;
    const hostile = "\u001b[2Jmain\u202e/tlob\u0000\r\n# approve: ok";
    const args = { order: "o1", item: hostile, quantity: 1, extra: tail, "see\u200b": "\u0456tem" };
    const id = (await propose("o1", { arguments: args, note: "\u001b[31mtrust me" })).body.operationId;
    const { context, heard } = await terminal(there, BOB);
    const { digest } = (await there.call("GET", `/v1/approvals/${id}`, { as: BOB })).body;

    const exit = await decide(context, id, "reject", { yes: true, digest });

    expect(exit).toBe(0);
    const text = heard.err.replaceAll(/\s+/g, "");
    expect(text).toContain("⟨U+001B⟩[2Jmain⟨U+202E⟩/tlob⟨U+0000⟩⟨U+000D⟩⟨U+000A⟩#approve:ok");
    expect(text).toContain(tail.replaceAll(" ", ""));
    expect(text).toContain("extra:notdescribedbythetool");
    expect(text).toContain('"іtem"mixesLatinandCyrillicletters');
    expect(text).toContain("Whattheagentsays(notchecked)⟨U+001B⟩[31mtrustme");
    expect(/[\u0000-\u0009\u000b-\u001f\u200b\u202a-\u202e]/.test(heard.err + heard.out)).toBe(false);
  });

  test("nobody is asked without a terminal: --yes and the digest that was looked at are needed, and must be right", async () => {
    const { there, propose } = await asked();
    const id = (await propose("o1")).body.operationId;
    const { context, heard } = await terminal(there, BOB);
    const { digest } = (await there.call("GET", `/v1/approvals/${id}`, { as: BOB })).body;

    const codes = [
      await exitOf(decide(context, id, "approve", {})),
      await exitOf(decide(context, id, "approve", { yes: true })),
      await exitOf(decide(context, id, "approve", { yes: true, digest: "sha-256:another" })),
      await decide(context, id, "approve", { yes: true, digest }),
      await listed(context, {}),
      await withdraw(context, id),
    ];

    expect(codes).toEqual([2, 2, 7, 5, 0, 5]);
    expect(heard.err).toContain("Nothing waits for you.");
  });

  test("exits by what became of it: executed, not yours to say, too late", async () => {
    const { here, there, propose } = await asked([asks()]);
    const id = (await propose("o1")).body.operationId;
    const bob = await terminal(there, BOB);
    const auditor = await terminal(there, { principal: "aldo", client: "console", roles: ["auditor"] });
    const { digest } = (await there.call("GET", `/v1/approvals/${id}`, { as: BOB })).body;
    const flags = { yes: true, digest };

    const watching = await exitOf(decide(auditor.context, id, "approve", flags));
    const executed = await decide(bob.context, id, "approve", flags);
    const late = await exitOf(decide(bob.context, id, "reject", flags));

    expect([watching, executed, late]).toEqual([3, 0, 3]);
    expect(here.orders()).toBe(1);
  });
});

async function exitOf(work: Promise<number>): Promise<number | string> {
  return work.catch(exitOfError);
}
