import type { Exchange, Sending } from "../exchange.ts";
import { type Dialogue, dial, NoReply, type SmtpReply } from "./dialogue.ts";
import { type Letter, letterBytes, stuffed } from "./letter.ts";
import { plainCredential, type SmtpSettings } from "./settings.ts";

/**
 * Where a letter stands. Until the final dot has begun to leave us the server has no letter, whatever it was told (RFC 5321 4.1.1.4):
 * `before_dot` proves that nothing happened. After it the server may have taken it and may not.
 */
type SmtpPhase = "before_dot" | "after_dot";

/** What was asked when the server answered. */
type Step = "greeting" | "ehlo" | "tls" | "auth" | "from" | "addressee" | "archive" | "data" | "dot";

/** The server said no, or something that is no answer to what was asked. */
class Answered extends Error {
  override readonly name = "Answered";
  readonly step: Step;
  readonly reply: SmtpReply;
  constructor(step: Step, reply: SmtpReply) {
    super(`${step}: ${reply.code}`);
    this.step = step;
    this.reply = reply;
  }
}

/** The gate was closed, so nothing of the letter can have an effect. */
class Closed extends Error {
  override readonly name = "Closed";
}

interface Course {
  readonly settings: SmtpSettings;
  readonly letter: Letter;
  readonly sending: Sending;
  readonly signal: AbortSignal;
  /** Undefined until the first byte of the conversation leaves. */
  phase: SmtpPhase | undefined;
}

/** Sends one letter to one addressee and the archive, once, on a connection of its own. */
export async function sendLetter(
  settings: SmtpSettings,
  letter: Letter,
  sending: Sending,
): Promise<Exchange> {
  const signal = AbortSignal.any([
    sending.signal,
    AbortSignal.timeout(Math.max(1, Math.ceil(sending.lifeMs))),
  ]);
  const course: Course = { settings, letter, sending, signal, phase: undefined };
  let dialogue: Dialogue | undefined;
  try {
    const bytes = stuffed(await letterBytes(letter, settings));
    dialogue = await dial(settings, signal);
    return answered("dot", await converse(course, dialogue, bytes));
  } catch (error) {
    if (error instanceof Answered) return refusal(course, error);
    if (error instanceof Closed) return { kind: "unsent", why: error.message };
    if (!(error instanceof NoReply)) throw error;
    return course.phase === undefined
      ? { kind: "unsent", why: error.message }
      : { kind: "silent", cause: error.message, phase: course.phase };
  } finally {
    dialogue?.end();
  }
}

/** The whole conversation. Every command waits for its answer: who was refused is never hidden behind who was not. */
async function converse(course: Course, dialogue: Dialogue, bytes: Buffer): Promise<SmtpReply> {
  const { settings, letter } = course;
  const ask = async (step: Step, line: string): Promise<SmtpReply> =>
    yes(step, await dialogue.command(line), step === "data" ? 3 : 2);
  yes("greeting", await dialogue.reply(), 2);
  passGate(course);
  course.phase = "before_dot";
  await hello(course, dialogue, ask);
  await ask("from", `MAIL FROM:<${settings.from}>`);
  await ask("addressee", `RCPT TO:<${letter.to}>`);
  if (settings.archiveAddress.toLowerCase() !== letter.to.toLowerCase())
    await ask("archive", `RCPT TO:<${settings.archiveAddress}>`);
  await ask("data", "DATA");
  await dialogue.write(bytes);
  // The last moment at which nothing has happened yet.
  passGate(course);
  course.phase = "after_dot";
  await dialogue.write(DOT);
  return yes("dot", await dialogue.reply(), 2);
}

const DOT = Buffer.from(".\r\n", "latin1");

function passGate({ signal, sending }: Course): void {
  if (signal.aborted) throw new Closed("its time was over before the letter was sent");
  if (!sending.gate()) throw new Closed("the send gate was closed");
}

async function hello(
  { settings }: Course,
  dialogue: Dialogue,
  ask: (step: Step, line: string) => Promise<SmtpReply>,
): Promise<void> {
  const greet = `EHLO ${settings.domain}`;
  let offered = await ask("ehlo", greet);
  if (settings.tls === "starttls") {
    // A server that does not offer it may be somebody between us and the server.
    if (!offers(offered, "STARTTLS")) throw new NoReply("the server offers no STARTTLS");
    await ask("tls", "STARTTLS");
    await dialogue.protect(settings);
    offered = await ask("ehlo", greet);
  }
  const { user, password } = settings;
  if (user === undefined || password === undefined) return;
  if (!offers(offered, "AUTH")) throw new NoReply("the server offers no AUTH");
  await ask("auth", `AUTH PLAIN ${plainCredential(user, password)}`);
}

function offers({ lines }: SmtpReply, extension: string): boolean {
  return lines.some((line) => line.toUpperCase().split(/[ =]/)[0] === extension);
}

function yes(step: Step, reply: SmtpReply, first: 2 | 3): SmtpReply {
  if (Math.floor(reply.code / 100) === first) return reply;
  throw new Answered(step, reply);
}

/** 4xx and 5xx are a no of the server's, in whichever step. Anything else here is not an answer to what was asked. */
function refusal({ phase }: Course, { step, reply }: Answered): Exchange {
  if (reply.code >= 400) return answered(step, reply);
  const cause = `the server answered ${reply.code} to ${step}`;
  return phase === undefined ? { kind: "unsent", why: cause } : { kind: "silent", cause, phase };
}

function answered(step: Step, { code, lines }: SmtpReply): Exchange {
  const message = lines.join(" ").slice(0, 1000);
  // RFC 3463: class.subject.detail.
  const enhanced = /^[245]\.\d{1,3}\.\d{1,3}(?= |$)/.exec(message)?.[0] ?? null;
  return {
    kind: "answered",
    reply: { status: code, headers: {}, body: { step, message, enhanced }, at: Date.now() },
  };
}
