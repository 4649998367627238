import { LEARNED, REAL } from "./rules.ts";
import { ATOMIC, believing, LOOKUP, lookupsSay, NOTHING, type Variant } from "./variant.ts";

export const ASKING: readonly Variant[] = [
  {
    name: "not found is trusted at once",
    where: LOOKUP,
    breaks: "I4",
    rules: {
      judgeAbsence: (_progress, finding) =>
        finding.kind === "absent" && finding.authoritative ? "settled" : "no",
    },
  },
  {
    name: "settled is judged by now, not by when the lookup left",
    where: LOOKUP,
    breaks: "I4",
    rules: { askedAt: (_startedAt, now) => now },
  },
  {
    name: "a lookup counts from the very moment until which a request may act",
    where: LOOKUP,
    breaks: "I4",
    rules: { askedAt: (startedAt) => startedAt + 1 },
  },
  {
    name: "the lookup's lag is ignored",
    where: LOOKUP,
    breaks: "I4",
    rules: believing((contract) => lookupsSay(contract, { lagMs: 0 })),
  },
  {
    name: "not found is trusted although finding only proves",
    where: ATOMIC,
    breaks: "I4",
    rules: {
      ...believing((contract) => lookupsSay(contract, { strength: "authoritative" })),
      judgeAbsence: (progress, finding, contract) =>
        REAL.judgeAbsence(
          progress,
          finding.kind === "absent" ? { ...finding, authoritative: true } : finding,
          contract,
        ),
    },
  },
  {
    name: "a person's absent is taken before everything sent has settled",
    where: NOTHING,
    breaks: "I4",
    rules: {
      judgeAbsence: (progress, finding, contract) =>
        finding.kind === "absent" && "ruling" in finding.by
          ? "settled"
          : REAL.judgeAbsence(progress, finding, contract),
    },
  },
  {
    name: "a refused barrier is taken for our effect",
    where: "tombstone",
    breaks: "I3",
    rules: {
      barrierMeans: (raised, at) =>
        raised
          ? REAL.barrierMeans(raised, at)
          : {
              type: "found",
              finding: {
                kind: "confirmed",
                by: { lookup: "barrier" },
                startedAt: at,
                evidence: LEARNED.applied.evidence,
              },
              settles: "no",
              repeatable: false,
            },
    },
  },
  {
    name: "a raised fence is taken for absence, without a look",
    where: "fence",
    breaks: "I4",
    rules: {
      barrierMeans: (raised, at) =>
        raised
          ? {
              type: "found",
              finding: { kind: "absent", by: { lookup: "barrier" }, startedAt: at, authoritative: true },
              settles: "barred",
              repeatable: false,
            }
          : REAL.barrierMeans(raised, at),
    },
  },
  {
    name: "a lookup counts as behind the barrier from when the barrier was tried",
    where: "fence",
    breaks: "I4",
    rules: {
      advance: (before, happening) => {
        const step = REAL.advance(before, happening);
        const { barrierAt } = before.inquiry;
        if (happening.type !== "barred" || !step.ok || barrierAt === undefined) return step;
        return { ok: true, progress: { ...step.progress, inquiry: { ...step.progress.inquiry, barrierAt } } };
      },
    },
  },
  {
    name: "behind the barrier the lookup's lag is ignored",
    where: "fence, and a lookup that lags",
    breaks: "I4",
    rules: {
      judgeAbsence: (progress, finding, contract) => {
        const { barrier, barrierAt } = progress.inquiry;
        const behind =
          finding.kind === "absent" && barrier === "raised" && finding.startedAt > (barrierAt ?? 0);
        return behind ? "barred" : REAL.judgeAbsence(progress, finding, contract);
      },
      next: (contract, progress, standing, clock) =>
        REAL.next(lookupsSay(contract, { lagMs: 0 }), progress, standing, clock),
    },
  },
];
