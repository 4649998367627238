import type { Adapter, AdapterPayload } from "oidc-provider";

/** What the development issuer remembers: codes, sessions and grants, in memory and until they end. A restart forgets them all. */
export function shelf(): (kind: string) => Adapter {
  const kept = new Map<string, { readonly payload: AdapterPayload; readonly endsAt: number }>();
  const find = (key: string): AdapterPayload | undefined => {
    const found = kept.get(key);
    if (found === undefined || found.endsAt > Date.now()) return found?.payload;
    kept.delete(key);
    return undefined;
  };
  return (kind) => {
    const named = (id: string): string => `${kind} ${id}`;
    return {
      upsert: async (id, payload, expiresInS = DAY_S) => {
        const [oldest] = kept.keys();
        if (kept.size >= KEPT_MAX && oldest !== undefined) kept.delete(oldest);
        kept.set(named(id), { payload, endsAt: Date.now() + expiresInS * 1000 });
      },
      find: async (id) => find(named(id)),
      findByUid: async (uid) => {
        const found = [...kept].find(
          ([key, { payload }]) => key.startsWith(named("")) && payload.uid === uid,
        );
        return found === undefined ? undefined : find(found[0]);
      },
      // Codes that people type are not among what it gives out.
      findByUserCode: async () => undefined,
      consume: async (id) => {
        const payload = find(named(id));
        if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
      },
      destroy: async (id) => void kept.delete(named(id)),
      revokeByGrantId: async (grantId) => {
        for (const [key, { payload }] of kept) if (payload.grantId === grantId) kept.delete(key);
      },
    };
  };
}

const DAY_S = 86_400;
const KEPT_MAX = 2_000;
