import { DIRECTIONS } from '../signal-types/declare.ts'
import type { JsonObject } from '../shared/json.ts'

type Direction = (typeof DIRECTIONS)[number]

/** The strength a signal states for itself: the first of these members that is a number. */
export const scoreOf = (payload: JsonObject): number | null => {
  for (const member of ['conviction', 'score', 'consensus_score', 'magnitude']) {
    const value = payload[member]
    if (typeof value === 'number') return value
  }
  return null
}

/** The direction a signal states for itself. What its numbers imply is the brain's business. */
export const directionOf = (payload: JsonObject): Direction | null =>
  DIRECTIONS.find((direction) => direction === payload['direction']) ?? null
