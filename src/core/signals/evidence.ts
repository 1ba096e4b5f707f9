import type { JsonObject } from '../shared/json.ts'
import { clamp } from '../shared/numbers.ts'
import { READERS, type PartRules } from './types/all.ts'
import type { Parts } from './types/reader.ts'
import type { MarketFacts } from '../market/readings.ts'

/** What a signal says, from -1 (lower) to 1 (higher); null if it says nothing. */
export const evidenceOf = (
  { type, payload }: { readonly type: string; readonly payload: JsonObject },
  market: MarketFacts,
  rules: PartRules,
): number | null => {
  const reader = READERS.get(type)
  return reader === undefined ? null : evidenceIn(reader.partsOf(payload, rules, market))
}

/** All parts count alike; what is missing does not count. */
export const evidenceIn = (parts: Parts): number | null => {
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
