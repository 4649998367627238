/** What may be shown and stored of a text that somebody else wrote. */
export type Clean = (text: string, max?: number) => string;

// Control and format characters: they end lines, reorder what is shown, or hide in it.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]+/gu;
export const TEXT_MAX = 300;
// Shorter ones would blank out half of what a provider says.
const SECRET_MIN = 4;

/** One bounded line without unseen characters and without any of the secrets, in whichever usual form a provider echoes them. */
export function cleaner(secrets: readonly string[]): Clean {
  const forms = secrets
    .filter((secret) => secret.length >= SECRET_MIN)
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      Buffer.from(secret, "utf8").toString("base64"),
    ]);
  // The longest first, so that no half of one stays.
  const hidden = [...new Set(forms)].sort((left, right) => right.length - left.length);
  return (text, max = TEXT_MAX) => {
    const bare = hidden.reduce((rest, secret) => rest.replaceAll(secret, "[secret]"), text.toWellFormed());
    const line = bare.replaceAll(UNSEEN, " ").replaceAll(/ {2,}/g, " ").trim();
    return line.length > max ? `${line.slice(0, max).toWellFormed()}…` : line;
  };
}
