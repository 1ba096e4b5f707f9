import { clamp01 } from '../shared/numbers.ts'
import type { Domain } from '../shared/domains.ts'
import type { Author } from './signal.ts'

export type QualitySeconds = Readonly<Record<Domain, number>>

/** After its fresh time a signal fades over three times as long. */
const FADING_TIMES = 3

/** Age lowers weight, never a value. What is not yet true has no quality. */
export const qualityAt = (ageMs: number, freshMs: number): number => {
  if (ageMs < 0) return 0
  return clamp01(1 - (ageMs - freshMs) / (FADING_TIMES * freshMs))
}

/** Nobody is stale before his next turn. */
export const freshMsOf = (domain: Domain, author: Author, qualitySeconds: QualitySeconds): number => {
  const domainMs = qualitySeconds[domain] * 1000
  return author.kind === 'contributor' ? domainMs : Math.max(domainMs, author.intervalMs ?? 0)
}
