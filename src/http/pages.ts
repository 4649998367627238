import { type ApiDocument, docsPage } from "./docs-page.ts";
import type { App, Door } from "./door.ts";
import { pageHeaders } from "./headers.ts";
import { html, page } from "./html.ts";
import { described, NO_QUERY, REFUSALS, type Success } from "./route.ts";
import { STYLE } from "./style.ts";

/** What a person finds who opens this in a browser. */
export function pageRoutes(app: App, _door: Door): void {
  const headers = pageHeaders(STYLE);
  const open = { config: { permission: "public" } } as const;
  const document = once(() => JSON.stringify(app.swagger()));
  // Swagger's own type leaves nearly everything open; the document is made of our shapes.
  const docs = once(() => docsPage(app.swagger() as unknown as ApiDocument));
  const landing = landingPage();
  app.get(
    "/openapi.json",
    {
      ...open,
      schema: shown("getOpenapi", "This interface, for machines", "application/json", "OpenAPI 3.1."),
    },
    async (_request, reply) =>
      reply.header("cache-control", "no-cache").type("application/json").send(document()),
  );
  app.get(
    "/docs",
    { ...open, schema: shown("getDocs", "This interface, for people", "text/html", "One page.") },
    async (_request, reply) => reply.headers(headers).send(docs()),
  );
  app.get(
    "/",
    { ...open, schema: shown("getLanding", "What runs here", "text/html", "One page.") },
    async (_request, reply) => reply.headers(headers).send(landing),
  );
}

function shown(name: string, summary: string, type: string, description: string) {
  const success: Success = {
    description,
    content: { [type]: { schema: { type: type === "text/html" ? "string" : "object" } } },
  };
  return {
    querystring: NO_QUERY,
    ...described({
      name,
      summary,
      tag: "installation",
      answers: { 200: success },
      refusals: REFUSALS.public,
    }),
  };
}

function once(make: () => string): () => string {
  let made: string | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const LINKS = [
  ["/docs", "The interface, for people"],
  ["/openapi.json", "The interface, for machines (OpenAPI 3.1)"],
  ["/readyz", "Whether this process can serve"],
  ["/.well-known/jwks.json", "The keys that receipts are signed with"],
] as const;

const FIRST_CALL = `curl -X POST "$WRIT_URL/v1/operations" \\
  -H "Authorization: Bearer $WRIT_TOKEN" -H "Idempotency-Key: restock-17" \\
  -H "Content-Type: application/json" \\
  -d '{"tool": "inventory.set_available", "expectedVersion": 42,
       "arguments": {"warehouse": "main", "item": "widget", "available": 18}}'`;

function landingPage(): string {
  return page(
    "Writ",
    STYLE,
    html`<main>
<h1>Writ runs here</h1>
<div class="lead"><p>Agents propose changes to other systems. Writ decides, executes exactly what was authorized, and answers for ever: who authorized what, against which version, how many times was it attempted, and what evidence confirms the effect.</p></div>
<ul class="plain">${LINKS.map(([path, what]) => html`<li><a href="${path}">${path}</a><span>${what}</span></li>`)}</ul>
<h2>A first call</h2>
<pre><code>${FIRST_CALL}</code></pre>
<p>Sent again with the same key it is the same operation: it is executed once.</p>
</main>`,
  );
}
