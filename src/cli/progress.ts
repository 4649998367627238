import type { Screen } from "./screen.ts";

/** What a command is doing while a person waits: one line that changes on a terminal, one line for each phase elsewhere. */
export interface Progress {
  phase(text: string): void;
  /** The last phase ended; `text` stays to be read, or nothing does. */
  end(text?: string): void;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 90;

export function progress(
  screen: Screen,
  stderr: { write(text: string): unknown } = process.stderr,
): Progress {
  if (!screen.live)
    return {
      phase: (text) => screen.talk(text),
      end: (text) => {
        if (text !== undefined) screen.talk(text);
      },
    };
  let shown: string | undefined;
  let frame = 0;
  let timer: NodeJS.Timeout | undefined;
  const draw = (): void => {
    frame = (frame + 1) % FRAMES.length;
    stderr.write(`\r\u001b[2K${screen.tint.cyan(FRAMES[frame] ?? "")} ${shown ?? ""}`);
  };
  return {
    phase(text) {
      shown = text;
      draw();
      timer ??= setInterval(draw, FRAME_MS).unref();
    },
    end(text) {
      clearInterval(timer);
      timer = undefined;
      if (shown !== undefined) stderr.write("\r\u001b[2K");
      shown = undefined;
      if (text !== undefined) screen.talk(text);
    },
  };
}

const SLOW_MS = 200;

/** Says what is going on only when it takes a while: what is refused at once is one sentence, and no more. */
export async function slowly<T>(phases: Progress, text: string, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => phases.phase(text), SLOW_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
