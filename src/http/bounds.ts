/** How much the HTTP door takes on. Everything has a bound; what is beyond it is refused by name. */
export interface HttpBounds {
  /** Bytes of one request body. */
  readonly bodyMax: number;
  /** A connection on which nothing moves is closed after this; longer than the longest wait. */
  readonly silenceMaxMs: number;
  /** A request must have arrived whole by then. */
  readonly requestMaxMs: number;
  readonly connectionsMax: number;
  /** Calls that may wait for an operation at a time; whoever comes later is answered at once. */
  readonly waitingMax: number;
  readonly streamsMax: number;
  readonly principalStreamsMax: number;
  /** A stream says something at least this often, and asks again then whether its token still holds. */
  readonly heartbeatMs: number;
  /** How often the ledger is asked for changes while somebody watches. */
  readonly pollMs: number;
  /** How long closing waits for executions that are under way; their leases stand behind them. */
  readonly drainMs: number;
}

export const HTTP_BOUNDS: HttpBounds = {
  bodyMax: 262_144,
  silenceMaxMs: 75_000,
  requestMaxMs: 30_000,
  connectionsMax: 4_096,
  waitingMax: 200,
  streamsMax: 200,
  principalStreamsMax: 8,
  heartbeatMs: 15_000,
  pollMs: 500,
  drainMs: 10_000,
};

/** Seconds that a caller may ask to wait, and what is waited when nothing is said. */
export const WAIT_MAX_S = 30;
export const WAIT_DEFAULT_S = 2;
