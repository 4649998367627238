/** The public face: run Writ inside another program, or write a connector for it. */
export { type ComposeOptions, compose, type Writ } from "./compose.ts";
export { type Configuration, loadConfiguration } from "./config.ts";
export {
  type CommonSettings,
  type ConnectorDefinition,
  type ConnectorKind,
  defineConnector,
  type SettingsReading,
} from "./connectors/define.ts";
export type { Exchange, Reply, Sending } from "./connectors/exchange.ts";
export { fingerprint } from "./connectors/fingerprint.ts";
export type { Line } from "./connectors/line.ts";
export { renderValue, type Subject } from "./connectors/variable.ts";
export type { Evidence, Outcome } from "./core/attempt.ts";
export type { Contract } from "./core/contract.ts";
export type { Json, JsonObject } from "./core/json.ts";
export { checkHoles, type Message, type MessageForm, type MessagePart } from "./core/message.ts";
export type { Operation, Reason, State } from "./core/operation.ts";
export { Problem, type ProblemCode } from "./core/problem.ts";
export type { Session } from "./core/session.ts";
export type { Tool } from "./core/tool.ts";
export type { PhaseProof, Transport } from "./core/transport.ts";
export {
  choiceOf,
  membersOf,
  objectOf,
  refuse,
  required,
  textOf,
  textsOf,
  type Written,
} from "./core/written.ts";
export type { Connector, ConnectorFinding, Errand, Log } from "./service/ports.ts";
