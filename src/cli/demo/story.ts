import {
  type Beat,
  holds,
  type Played,
  type Scene,
  type SceneReport,
  type StoryReport,
  type Telling,
} from "./scene.ts";
import type { Stage } from "./stage.ts";

/** Hears the story as it happens. */
export interface Audience {
  begins(scene: Scene): void;
  aside(text: string): void;
  beat(beat: Beat): void;
  gap(): void;
  ends(report: SceneReport): void;
}

/** Plays the scenes one after the other, and judges each by what was counted at its provider. */
export async function tellStory(
  stage: Stage,
  scenes: readonly Scene[],
  audience: Audience,
): Promise<StoryReport> {
  const began = performance.now();
  const reports: SceneReport[] = [];
  prepare(stage, scenes);
  for (const scene of scenes) {
    audience.begins(scene);
    const report = await playScene(stage, scene, audience);
    audience.ends(report);
    reports.push(report);
  }
  return summed(reports, began);
}

/** Plays them all at once, each on items of its own, and tells the endings in order: for who has no time. */
export async function skimStory(
  stage: Stage,
  scenes: readonly Scene[],
  ends: (report: SceneReport) => void,
): Promise<StoryReport> {
  const began = performance.now();
  const quiet: Telling = { aside: () => undefined, beat: () => undefined, gap: () => undefined };
  prepare(stage, scenes);
  const playing = scenes.map((scene) => playScene(stage, scene, quiet));
  const reports: SceneReport[] = [];
  for (const each of playing) {
    const report = await each;
    ends(report);
    reports.push(report);
  }
  return summed(reports, began);
}

/** A process takes a while to start: it does while the first scenes play. Whether it could is heard where it is needed. */
function prepare(stage: Stage, scenes: readonly Scene[]): void {
  if (scenes.some(({ needsVictim }) => needsVictim === true)) stage.victim().catch(() => undefined);
}

async function playScene(stage: Stage, scene: Scene, telling: Telling): Promise<SceneReport> {
  const beats: Beat[] = [];
  const heard: Telling = {
    aside: (text) => telling.aside(text),
    gap: () => telling.gap(),
    beat: (beat) => {
      beats.push(beat);
      telling.beat(beat);
    },
  };
  const head = { scene: scene.n, title: scene.title };
  try {
    const played: Played = await scene.play(stage, heard);
    return { ...head, ...played, beats, holds: holds(played) };
  } catch (error) {
    const broke = error instanceof Error ? error.message : String(error);
    return { ...head, operations: [], counts: [], endings: [], beats, holds: false, broke };
  }
}

function summed(scenes: readonly SceneReport[], began: number): StoryReport {
  return {
    holds: scenes.length > 0 && scenes.every((scene) => scene.holds),
    seconds: Math.round((performance.now() - began) / 100) / 10,
    scenes,
  };
}
