import type { ServerResponse } from "node:http";
import type { Fault } from "./faults.ts";
import { no, type ShopAnswer } from "./shop.ts";

/** What a fault does before the effect: it answers, or takes the answer away, or (undefined) lets the request through. */
export type Before =
  | { readonly answer: ShopAnswer }
  | "silence"
  | "drop"
  | { readonly waitMs: number }
  | undefined;

export function beforeEffect(fault: Fault | undefined): Before {
  switch (fault?.kind) {
    case "drop_before":
      return "drop";
    case "hang":
      return "silence";
    case "slow":
      return { waitMs: fault.ms ?? 50 };
    case "error_before":
      return { answer: no(503, "unavailable", "come back later") };
    case "redirect":
      return { answer: { status: 307, body: {}, headers: { location: "/elsewhere" } } };
    case "throttle":
      return { answer: { ...no(429, "too_many_requests", "slow down"), headers: { "retry-after": "2" } } };
    case "in_flight":
      return {
        answer: {
          ...no(409, "in_flight", "a request with this key is being processed"),
          headers: { "retry-after": "1" },
        },
      };
    case "answer":
      return { answer: givenAnswer(fault) };
    case undefined:
    case "drop_after":
    case "error_after":
    case "hang_after":
    case "slow_body":
    case "cut_body":
    case "big_body":
    case "garbage":
    case "answer_after":
      return undefined;
  }
}

function givenAnswer({ status = 200, body = {}, headers = {} }: Fault): ShopAnswer {
  return { status, body, headers };
}

/** Delivers an answer, or spoils it as the fault says. The effect has happened or not; nothing here changes that. */
export function deliver(response: ServerResponse, answer: ShopAnswer, fault: Fault | undefined): void {
  const text = fault?.text ?? JSON.stringify(answer.body);
  switch (fault?.kind) {
    case "drop_after":
      response.socket?.resetAndDestroy();
      return;
    case "hang_after":
      return;
    case "error_after":
      send(response, no(500, "internal", "something broke"));
      return;
    case "answer_after":
      send(response, givenAnswer(fault), fault.text);
      return;
    case "cut_body":
      head(response, answer, text.length);
      response.write(text.slice(0, Math.floor(text.length / 2)), () => response.socket?.destroy());
      return;
    case "big_body":
      send(
        response,
        answer,
        JSON.stringify({ ...answer.body, filler: "x".repeat(fault.bytes ?? 2_000_000) }),
      );
      return;
    case "garbage":
      response.socket?.end("NOT HTTP AT ALL\r\n\r\n");
      return;
    case "slow_body":
      trickle(response, answer, text, fault.ms ?? 50);
      return;
    case undefined:
    case "drop_before":
    case "error_before":
    case "hang":
    case "slow":
    case "redirect":
    case "throttle":
    case "in_flight":
    case "answer":
      send(response, answer, fault?.text);
      return;
  }
}

function head(response: ServerResponse, { status, headers = {} }: ShopAnswer, length: number): void {
  response.writeHead(status, { "content-type": "application/json", "content-length": length, ...headers });
}

export function send(response: ServerResponse, answer: ShopAnswer, text = JSON.stringify(answer.body)): void {
  const bytes = Buffer.from(text, "utf8");
  head(response, answer, bytes.byteLength);
  response.end(bytes);
}

const PIECES = 10;

function trickle(response: ServerResponse, answer: ShopAnswer, text: string, ms: number): void {
  head(response, answer, text.length);
  const size = Math.ceil(text.length / PIECES);
  let sent = 0;
  const timer = setInterval(
    () => {
      response.write(text.slice(sent, sent + size));
      sent += size;
      if (sent < text.length) return;
      clearInterval(timer);
      response.end();
    },
    Math.max(1, Math.floor(ms / PIECES)),
  );
  response.on("close", () => clearInterval(timer));
}
