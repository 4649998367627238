import pc from "picocolors";
import { stringify } from "yaml";

export const FORMATS = ["table", "json", "jsonl", "yaml"] as const;
export type Format = (typeof FORMATS)[number];
export type Colours = ReturnType<typeof pc.createColors>;

/** As much of a stream as a screen needs. */
interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Where a command speaks: data on stdout and nothing else there, talk on stderr. */
export interface Screen {
  readonly format: Format;
  /** Colours for data. */
  readonly paint: Colours;
  /** Colours for talk: the two streams may lead to different places. */
  readonly tint: Colours;
  /** Columns that a line may take. */
  readonly width: number;
  /** Whether a person sees the talk as it is written. */
  readonly live: boolean;
  /** Whether a question may be asked. */
  readonly asks: boolean;
  data(text: string): void;
  talk(text: string): void;
  /** A value on stdout in the machine's format; false when people read this. */
  machine(value: unknown): boolean;
}

export interface ScreenOptions {
  readonly format: Format;
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly stdin: { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
}

const WIDTH_MIN = 60;
const WIDTH_MAX = 120;
const WIDTH_UNKNOWN = 100;

export function screen({ format, stdout, stderr, stdin, env }: ScreenOptions): Screen {
  const columns = stdout.columns ?? stderr.columns ?? WIDTH_UNKNOWN;
  return {
    format,
    paint: pc.createColors(format === "table" && coloured(stdout, env)),
    tint: pc.createColors(coloured(stderr, env)),
    width: Math.max(WIDTH_MIN, Math.min(WIDTH_MAX, columns)),
    live: stderr.isTTY === true && env.TERM !== "dumb",
    asks: stdin.isTTY === true && stderr.isTTY === true && env.CI === undefined,
    data: (text) => void stdout.write(`${text}\n`),
    talk: (text) => void stderr.write(`${text}\n`),
    machine: (value) => {
      if (format === "table") return false;
      stdout.write(machineText(value, format));
      return true;
    },
  };
}

/** NO_COLOR (no-color.org) wins over everything, when it is not empty. */
function coloured(stream: Stream, env: ScreenOptions["env"]): boolean {
  if ((env.NO_COLOR ?? "") !== "") return false;
  if ((env.FORCE_COLOR ?? "") !== "" && env.FORCE_COLOR !== "0") return true;
  return stream.isTTY === true && env.TERM !== "dumb";
}

/** A list is one line for each item in jsonl, and one value elsewhere. An empty list is `[]`, never silence. */
function machineText(value: unknown, format: Exclude<Format, "table">): string {
  switch (format) {
    case "json":
      return `${JSON.stringify(value, null, 2)}\n`;
    case "jsonl": {
      const items: readonly unknown[] = Array.isArray(value) ? value : [value];
      return items.map((item) => `${JSON.stringify(item)}\n`).join("");
    }
    case "yaml":
      return stringify(value, { lineWidth: 0 });
  }
}

/** Control characters of somebody else's text would move our cursor or change our colours. */
export function plain(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "�");
}
