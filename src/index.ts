/** The public face: run Writ inside another program, or write a connector for it. */
export { type ComposeOptions, compose, type Writ } from "./compose.ts";
export type { Evidence, Outcome } from "./core/attempt.ts";
export type { Contract } from "./core/contract.ts";
export type { Operation, Reason, State } from "./core/operation.ts";
export { Problem, type ProblemCode } from "./core/problem.ts";
export type { Session } from "./core/session.ts";
export type { Tool } from "./core/tool.ts";
export type { Connector, ConnectorFinding, Errand, Log } from "./service/ports.ts";
