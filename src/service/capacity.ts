import type { TenantId } from "../core/ids.ts";

/** Places for executions under way in this process. One provider that hangs, or one tenant, never takes them all. */
export interface Capacity {
  /** A place, to be given back with `free`; undefined when there is none for this provider, or for this tenant. */
  take(provider: string, tenantId: TenantId): Place | undefined;
}
export interface Place {
  /** Twice is once. */
  free(): void;
}

export interface CapacityBounds {
  readonly providerMax: number;
  readonly tenantMax: number;
}
/** A provider that answers within a second serves so many callers a second; more would only wait for it in our memory. */
export const CAPACITY: CapacityBounds = { providerMax: 128, tenantMax: 64 };

export function capacity({ providerMax, tenantMax }: CapacityBounds = CAPACITY): Capacity {
  const counts = new Map<string, number>();
  const count = (key: string, by: 1 | -1): void => {
    const now = (counts.get(key) ?? 0) + by;
    if (now === 0) counts.delete(key);
    else counts.set(key, now);
  };
  return {
    take: (provider, tenantId) => {
      const keys = [`provider ${provider}`, `tenant ${tenantId}`] as const;
      const full = (counts.get(keys[0]) ?? 0) >= providerMax || (counts.get(keys[1]) ?? 0) >= tenantMax;
      if (full) return undefined;
      for (const key of keys) count(key, 1);
      let taken = true;
      return {
        free: () => {
          if (taken) for (const key of keys) count(key, -1);
          taken = false;
        },
      };
    },
  };
}
