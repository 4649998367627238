import type { ExplanationAnswer } from "../../wire/record.ts";
import type { Stage } from "./stage.ts";

/** Who speaks and who is spoken to in the story. */
export type Cast = "agent" | "Writ" | "stock" | "shop" | "kiosk" | "person";

/** One thing that happened, as it really came back. */
export interface Beat {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly from: Cast;
  readonly to?: Cast;
  readonly says: string;
  readonly mark?: "effect" | "succeeded" | "unknown" | "refused";
}

/** How often something happened at a provider, by the provider's own journal, and how often the story says it should have. */
export interface Count {
  readonly provider: Cast;
  readonly resource: string;
  readonly counted: number;
  readonly expected: number;
}

/** How an operation ended, or what a call was answered, and what the story says. */
export interface Ending {
  readonly what: string;
  readonly is: string;
  readonly expected: string;
}

/** What a scene leaves behind to be judged. */
export interface Played {
  readonly operations: readonly string[];
  readonly counts: readonly Count[];
  readonly endings: readonly Ending[];
  readonly explanation?: ExplanationAnswer;
}

export interface Telling {
  /** A remark about what the stage does to the actors: never something that came back. */
  aside(text: string): void;
  beat(beat: Beat): void;
  /** The second half begins. */
  gap(): void;
}

export interface Scene {
  readonly n: number;
  readonly title: string;
  /** What it shows, in one sentence. */
  readonly shows: string;
  /** It kills the stage's second process. */
  readonly needsVictim?: true;
  play(stage: Stage, telling: Telling): Promise<Played>;
}

/** A scene that was played, with everything that was said and counted. */
export interface SceneReport extends Played {
  readonly scene: number;
  readonly title: string;
  readonly beats: readonly Beat[];
  readonly holds: boolean;
  /** Why it could not be played to its end. */
  readonly broke?: string;
}

export interface StoryReport {
  readonly holds: boolean;
  readonly seconds: number;
  readonly scenes: readonly SceneReport[];
}

/** Every count and every ending is what the story says, and something was counted at all. */
export function holds({ counts, endings }: Pick<Played, "counts" | "endings">): boolean {
  return (
    counts.length > 0 &&
    counts.every(({ counted, expected }) => counted === expected) &&
    endings.every(({ is, expected }) => is === expected)
  );
}
