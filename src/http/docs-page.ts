import { type Html, html, inline, page, prose } from "./html.ts";
import { STYLE } from "./style.ts";

/** Our OpenAPI document, reduced to what it uses and the page shows. */
export interface ApiDocument {
  readonly info: { readonly description?: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Call>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Shape>> };
}
interface Call {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Shape }>> };
  readonly responses: Readonly<Record<string, Answer>>;
}
interface Answer {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema?: Shape }>>;
}
interface Shape {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly format?: string;
}

const VERBS = ["get", "post"] as const;

/** The OpenAPI document as one page that asks nothing of anybody: no script, no font, no address elsewhere. */
export function docsPage(document: ApiDocument): string {
  const calls = Object.entries(document.paths).flatMap(([path, item]) =>
    VERBS.flatMap((verb) => {
      const call = item[verb];
      return call === undefined ? [] : [{ path, verb, call, tag: call.tags?.[0] ?? "other" }];
    }),
  );
  const tags = [...new Set(calls.map(({ tag }) => tag))];
  const schemas = Object.entries(document.components.schemas);
  return page(
    "Writ API",
    STYLE,
    html`<main>
<h1>Writ API</h1>
<div class="lead">${prose(document.info.description ?? "")}</div>
<p><a href="/openapi.json">openapi.json</a> · <a href="/">What runs here</a></p>
${tags.map((tag) => html`<h2>${tag}</h2>${calls.filter((call) => call.tag === tag).map(({ path, verb, call }) => callPart(path, verb, call))}`)}
<h2>Shapes</h2>
${schemas.map(([name, schema]) => shapePart(name, schema))}
</main>`,
  );
}

function callPart(path: string, verb: string, call: Call): Html {
  const body = call.requestBody?.content["application/json"]?.schema;
  const { parameters = [] } = call;
  return html`<details>
<summary><span class="verb ${verb}">${verb.toUpperCase()}</span><span class="path">${path}</span><span class="what">${call.summary ?? ""}</span></summary>
<div class="inside">${call.description === undefined ? [] : prose(call.description)}
${parameters.length === 0 ? [] : html`<h3>Parameters</h3><dl>${parameters.map((one) => term(one.name, one.required === true, one.in, one.description))}</dl>`}
${body === undefined ? [] : html`<h3>Body</h3>${membersOf(body)}`}
<h3>Answers</h3><dl>${Object.entries(call.responses).map(([status, answer]) => answerPart(status, answer))}</dl></div>
</details>`;
}

function answerPart(status: string, { description, content }: Answer): Html {
  const refs = Object.values(content ?? {}).flatMap(({ schema }) =>
    schema?.$ref === undefined ? [] : [link(schema.$ref)],
  );
  return html`<dt><code>${status}</code></dt><dd>${inline(description)} ${refs}</dd>`;
}

function shapePart(name: string, shape: Shape): Html {
  return html`<details><summary><span class="path">${name}</span></summary><div class="inside" id="shape-${name}">${membersOf(shape)}</div></details>`;
}

function membersOf(shape: Shape): Html {
  if (shape.$ref !== undefined) return html`<p>${link(shape.$ref)}</p>`;
  const members = Object.entries(shape.properties ?? {});
  if (members.length === 0) return html`<p>${typeOf(shape)}</p>`;
  return html`<dl>${members.map(([name, member]) => html`<dt>${nameOf(name, shape.required?.includes(name) === true)}</dt><dd>${typeOf(member)} ${inline(member.description ?? "")}</dd>`)}</dl>`;
}

function term(name: string, must: boolean, where: string, description: string | undefined): Html {
  return html`<dt>${nameOf(name, must)}</dt><dd>${where}. ${inline(description ?? "")}</dd>`;
}

function nameOf(name: string, must: boolean): Html {
  return must ? html`<code class="must">${name}</code>` : html`<code>${name}</code>`;
}

function typeOf({ $ref, type, items, format, enum: words }: Shape): Html {
  if ($ref !== undefined) return link($ref);
  if (items !== undefined) return html`list of ${typeOf(items)}`;
  if (words !== undefined) return html`${words.join(" | ")}.`;
  if (type === undefined) return html`any JSON.`;
  return html`${[type].flat().join(" or ")}${format === undefined ? "" : ` (${format})`}.`;
}

function link(ref: string): Html {
  const name = ref.split("/").at(-1) ?? ref;
  return html`<a href="#shape-${name}">${name}</a>`;
}
