import type { Scene } from "./scene.ts";
import { lostAnswer, noGuarantees } from "./scenes-doubt.ts";
import { killedWorker } from "./scenes-killed.ts";
import { keyReused, normalWrite, staleVersion } from "./scenes-plain.ts";

/** The story, in its order. */
export const SCENES: readonly Scene[] = [
  normalWrite,
  lostAnswer,
  staleVersion,
  keyReused,
  noGuarantees,
  killedWorker,
];
