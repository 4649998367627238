import { explanationText } from "../operation-view.ts";
import { cut, shownLength, wrapped } from "../print.ts";
import { type Colours, plain, type Screen } from "../screen.ts";
import type { Beat, Cast, Count, Ending, Scene, SceneReport, StoryReport } from "./scene.ts";
import type { Audience } from "./story.ts";

const MARGIN = 3;
/** `person → Writ` and its like stand in one column, and what is said in another. */
const WHO = 15;
const ARROW = "→";

/** The story for people, beat by beat. */
export function terminal(screen: Screen): Audience {
  const { paint, data } = screen;
  return {
    begins: ({ n, title, shows }) => {
      data(`\n${paint.cyan(paint.bold(String(n)))}  ${paint.bold(title)}`);
      for (const line of wrapped(shows, screen.width - MARGIN)) data(pad(paint.dim(line)));
      data("");
    },
    aside: (text) => {
      for (const line of wrapped(`(${text})`, screen.width - MARGIN))
        data(pad(paint.dim(paint.italic(line))));
    },
    beat: (beat) => data(beatText(screen, beat)),
    gap: () => data(""),
    ends: (report) => data(`\n${endingText(screen, report)}`),
  };
}

export function opening(screen: Screen): string {
  const { paint } = screen;
  const text =
    "An agent changes stock: in Writ's own PostgreSQL, and at a shop and a kiosk across HTTP. Answers get lost, and a process is killed. Effects are counted in the providers' own journals, never in Writ's.";
  return [
    `${paint.bold("Writ")}, the story of a write`,
    ...wrapped(text, screen.width).map((line) => paint.dim(line)),
  ].join("\n");
}

function pad(text: string): string {
  return " ".repeat(MARGIN) + text;
}

function beatText(screen: Screen, { from, to, says, mark }: Beat): string {
  const { paint } = screen;
  const who =
    to === undefined ? actor(paint, from) : `${actor(paint, from)} ${paint.dim(ARROW)} ${actor(paint, to)}`;
  const room = " ".repeat(Math.max(1, WHO - shownLength(who)));
  const colour = markColour(paint, mark);
  const [first = "", ...more] = wrapped(plain(says), screen.width - MARGIN - WHO);
  return [pad(who + room + colour(first)), ...more.map((line) => pad(" ".repeat(WHO) + colour(line)))].join(
    "\n",
  );
}

function actor(paint: Colours, cast: Cast): string {
  switch (cast) {
    case "agent":
      return paint.cyan(cast);
    case "Writ":
      return paint.bold(cast);
    case "person":
      return paint.blue(cast);
    case "stock":
    case "shop":
    case "kiosk":
      return paint.magenta(cast);
  }
}

function markColour(paint: Colours, mark: Beat["mark"]): (text: string) => string {
  switch (mark) {
    case "effect":
      return paint.magenta;
    case "succeeded":
      return paint.green;
    case "unknown":
      return paint.yellow;
    case "refused":
      return paint.red;
    case undefined:
      return (text) => text;
  }
}

function endingText(screen: Screen, report: SceneReport): string {
  const { paint } = screen;
  if (report.broke !== undefined)
    return wrapped(`✗ the scene broke: ${plain(report.broke)}`, screen.width - MARGIN)
      .map((line) => pad(paint.red(line)))
      .join("\n");
  const counts = report.counts.map((count) => pad(countText(paint, count)));
  const wrong = report.endings.filter(({ is, expected }) => is !== expected);
  return [...counts, ...wrong.map((ending) => pad(wrongText(paint, ending)))].join("\n");
}

function countText(paint: Colours, { provider, resource, counted, expected }: Count): string {
  const effects = `${counted} ${counted === 1 ? "effect" : "effects"}`;
  const where = `in the ${provider}'s journal`;
  return counted === expected
    ? `${paint.green("✓")} ${paint.bold(effects)} on ${resource} ${where}`
    : `${paint.red("✗")} ${paint.bold(effects)} on ${resource} ${where}, and the story says ${expected}`;
}

function wrongText(paint: Colours, { what, is, expected }: Ending): string {
  return `${paint.red("✗")} ${what}: ${is}, and the story says ${expected}`;
}

const TITLE_WIDTH = 48;

/** What a short story begins with. */
export function shortOpening(screen: Screen): string {
  const { paint } = screen;
  const text = "An agent changes stock; answers get lost, a worker is killed. What the providers counted:";
  return [paint.bold("Writ"), ...wrapped(text, screen.width).map((line) => paint.dim(line))].join("\n");
}

/** One line for each scene: for who starts a server and only wants to see that it holds. */
export function skimmedText(screen: Screen, { title, counts, endings, holds, broke }: SceneReport): string {
  const { paint } = screen;
  const mark = holds ? paint.green("✓") : paint.red("✗");
  const room = screen.width - MARGIN - TITLE_WIDTH - 2;
  const counted = counts.map((count) => `${count.provider} ${count.counted}`).join(", ");
  const whole = `${counted} · ${lastOf(endings)}`;
  const says = broke ?? (holds && whole.length > room ? counted : whole);
  return pad(`${mark} ${title.padEnd(TITLE_WIDTH)}${paint.dim(cut(plain(says), room))}`);
}

function lastOf(endings: readonly Ending[]): string {
  return endings.find(({ is, expected }) => is !== expected)?.is ?? endings.at(-1)?.is ?? "";
}

/** `explain` of the operation that went through most. */
export function epilogue(screen: Screen, { scenes }: StoryReport, n: number): string | undefined {
  const explained = scenes.findLast((scene) => scene.explanation !== undefined)?.explanation;
  if (explained === undefined) return undefined;
  const { paint } = screen;
  const head = `${paint.cyan(paint.bold(String(n)))}  ${paint.bold("Explain")}`;
  const shows =
    "Who authorized what, against which version, how often it was attempted, and what confirms it.";
  const inner = { ...screen, width: screen.width - MARGIN };
  const text = explanationText(inner, explained)
    .split("\n")
    .map((line) => (line === "" ? "" : pad(line)));
  return [
    head,
    ...wrapped(shows, screen.width - MARGIN).map((line) => pad(paint.dim(line))),
    "",
    ...text,
  ].join("\n");
}

export function verdictText(screen: Screen, { scenes, holds, seconds }: StoryReport): string {
  const { paint } = screen;
  const counts = scenes.flatMap((scene) => scene.counts);
  const right = counts.filter(({ counted, expected }) => counted === expected).length;
  const line = `${right} of ${counts.length} counts at the providers are what the story says.`;
  return `${holds ? paint.green("✓") : paint.red("✗")}  ${paint.bold(line)} ${paint.dim(`${seconds.toFixed(1)} s`)}`;
}

/** What scenes there are, for `--scene`. */
export function sceneList(scenes: readonly Scene[]): string {
  return scenes.map(({ n, title }) => `${n} ${title}`).join(", ");
}
