import type { JsonObject } from '../vocabulary/json.ts'
import { clamp } from '../vocabulary/numbers.ts'
import { READERS, type PartRules } from './readers/all.ts'
import type { Domain } from '../vocabulary/domains.ts'
import type { MarketFacts } from './signal.ts'

/** The domain a type scores in; null for a type that does not score. */
export const domainOf = (type: string): Domain | null => READERS.get(type)?.domain ?? null

/** What a signal says, from -1 (lower) to 1 (higher); null if it says nothing. */
export const evidenceOf = (
  { type, payload }: { readonly type: string; readonly payload: JsonObject },
  market: MarketFacts,
  rules: PartRules,
): number | null => {
  const parts = READERS.get(type)?.partsOf(payload, rules, market) ?? {}
  let sum = 0
  let count = 0
  for (const name in parts) {
    const part = parts[name] ?? null
    if (part === null) continue
    sum += clamp(part)
    count += 1
  }
  return count === 0 ? null : sum / count
}
