import { type DestinationStream, pino } from "pino";
import type { Log } from "../service/ports.ts";

/** One line of JSON for each event, on standard error: standard output belongs to data. Arguments and secrets are never given to it. */
export function jsonLog(
  level: "debug" | "info" | "warn" | "error" | "silent",
  stream: DestinationStream = pino.destination({ fd: 2, sync: false }),
): Log {
  const logger = pino(
    { level, base: { service: "writ" }, timestamp: pino.stdTimeFunctions.isoTime, messageKey: "event" },
    stream,
  );
  return {
    info: (event, fields) => logger.info(fields, event),
    warn: (event, fields) => logger.warn(fields, event),
    error: (event, fields) => logger.error(fields, event),
  };
}
