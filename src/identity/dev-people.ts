/** Somebody whom the development issuer knows without a password. */
export interface DevelopmentPerson {
  readonly name: string;
  readonly what: string;
  readonly roles: readonly string[];
}

/** A program that the development issuer knows. */
export interface DevelopmentClient {
  readonly name: string;
  readonly what: string;
  /** What it may ask the issuer for. */
  readonly may: readonly ("code" | "itself" | "exchange")[];
  /** Of the service itself, where it acts for nobody else. */
  readonly roles: readonly string[];
}

/**
 * The people of the first run. Whoever has a role of the configuration's `roles` may propose; here that is ada, so that every tool can be
 * tried, whatever its configuration calls its roles.
 *
 * | who  | is                | roles                                                  |
 * | ---- | ----------------- | ------------------------------------------------------ |
 * | ada  | a stock clerk     | stock-clerk, agent, every role of the configuration    |
 * | ben  | a stock manager   | stock-manager, approver                                |
 * | cleo | compliance        | compliance, policy-admin, operator, resolver, auditor  |
 */
export function developmentPeople(configured: readonly string[]): readonly DevelopmentPerson[] {
  const others = [
    "stock-manager",
    "approver",
    "compliance",
    "policy-admin",
    "operator",
    "resolver",
    "auditor",
  ];
  const proposing = configured.filter((role) => !others.includes(role));
  return [
    {
      name: "ada",
      what: "stock clerk; agents act for her",
      roles: [...new Set(["stock-clerk", "agent", ...proposing])],
    },
    { name: "ben", what: "stock manager; approves", roles: ["stock-manager", "approver"] },
    {
      name: "cleo",
      what: "compliance; policies, halts and rulings",
      roles: ["compliance", "policy-admin", "operator", "resolver", "auditor"],
    },
  ];
}

/** People use `writ-cli` and the console, agents a client of their own: who rules or approves is never the client that proposed. */
export const DEVELOPMENT_CLIENTS: readonly DevelopmentClient[] = [
  { name: "agent-1", what: "an agent", may: ["exchange"], roles: [] },
  { name: "agent-2", what: "an agent that another one may ask", may: ["exchange"], roles: [] },
  {
    name: "stock-service",
    what: "a service that acts for itself",
    may: ["itself"],
    roles: ["stock-service"],
  },
  { name: "writ-cli", what: "people's command line", may: ["code"], roles: [] },
  { name: "writ-console", what: "people's browsers", may: ["code"], roles: [] },
];
