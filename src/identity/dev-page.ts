import { createHash } from "node:crypto";
import type { DevelopmentPerson } from "./dev-people.ts";

const STYLE = `
:root { color-scheme: light dark; }
body { margin: 0; font: 16px/1.6 system-ui, sans-serif; }
main { max-width: 26rem; margin: 12vh auto 0; padding: 0 1.25rem; }
h1 { font-size: 1.5rem; margin: 0 0 0.25rem; }
p { opacity: 0.75; margin: 0 0 1.5rem; }
button { display: block; width: 100%; text-align: left; font: inherit; padding: 0.75rem 1rem; margin: 0 0 0.6rem; border: 1px solid; border-radius: 10px; background: none; color: inherit; cursor: pointer; }
button:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
strong { display: block; text-transform: capitalize; }
small { opacity: 0.75; }
`;

export const LOGIN_PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; frame-ancestors 'none'`,
  // With no-referrer a browser sends "Origin: null" with the form, and could not show that the choice was made on this page.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
} as const;

/** Who are you? Everything on it is a constant of ours. */
export function loginPage(people: readonly DevelopmentPerson[]): string {
  const buttons = people
    .map(
      ({ name, what }) =>
        `<button name="person" value="${name}"><strong>${name}</strong><small>${what}</small></button>`,
    )
    .join("\n");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Development sign-in</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Who are you?</h1>
<p>Development issuer: no passwords, this machine only.</p>
<form method="post">
${buttons}
</form>
</main>
</body>
</html>
`;
}
