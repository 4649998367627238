/** Text that is already HTML. Only `html` and `raw` make one, so nothing reaches a page unescaped by accident. */
export interface Html {
  readonly html: string;
}

type Piece = string | number | Html | readonly Html[];

/** A tagged template: texts are escaped, pieces of HTML are not. */
export function html(parts: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return {
    html: parts
      .map((part, index) => part + (index < pieces.length ? shown(pieces[index] ?? "") : ""))
      .join(""),
  };
}

/** For our own constants only. */
function raw(text: string): Html {
  return { html: text };
}

function shown(piece: Piece): string {
  if (typeof piece === "string" || typeof piece === "number") return escaped(String(piece));
  return "html" in piece ? piece.html : piece.map((each) => each.html).join("");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Our own Markdown, as far as descriptions use it: paragraphs and `code`. */
export function prose(text: string): readonly Html[] {
  return text.split(/\n{2,}/).map((paragraph) => html`<p>${inline(paragraph)}</p>`);
}

/** One line of it. */
export function inline(text: string): readonly Html[] {
  return text
    .split("`")
    .map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`));
}

export function page(title: string, style: string, body: Html, head: Html = html``): string {
  const whole = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
${head}<style>${raw(style)}</style>
</head>
<body>
${body}
</body>
</html>
`;
  return whole.html;
}
