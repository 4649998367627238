import type { Json } from "../core/json.ts";
import type { Written } from "../core/written.ts";
import { INSTALLATION } from "./installation-settings.ts";
import type { Setting } from "./settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What the environment says in place of the file. A mistake in it is named by the variable. */
export function overridden(
  name: keyof typeof INSTALLATION,
  written: Written | undefined,
  environment: Environment,
): Written | undefined {
  const setting: Setting = INSTALLATION[name];
  const text = setting.variable === undefined ? undefined : environment[setting.variable];
  if (setting.variable === undefined || text === undefined || text === "") return written;
  return { value: meantBy(setting, text), at: setting.variable };
}

function meantBy({ takes }: Setting, text: string): Json {
  if (takes.startsWith("a list")) return text.split(",").map((item) => item.trim());
  return takes === "a number of bytes" && /^\d{1,15}$/.test(text) ? Number(text) : text;
}
