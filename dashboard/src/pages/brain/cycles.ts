import { useQuery } from '@tanstack/react-query'
import type { EventItem } from '../../api/log.ts'
import { queries } from '../../api/queries.ts'
import type { Weights } from '../../api/trading.ts'
import { useRecentEvents } from '../../live/use-live.ts'
import { textOf } from '../../ui/format.ts'

/** What the log keeps of a cycle, as far as it is shown. */
export interface Cycle {
  readonly id: string
  readonly ts: string
  readonly trigger: string
  readonly regime: string
  readonly killSwitchLevel: number
  readonly symbols: readonly string[]
  readonly intents: number
  readonly durationMs: number
  readonly warnings: readonly string[]
  readonly weights: Weights
}

const CYCLES_MAX = 100

const isCycle = ({ type }: EventItem): boolean => type === 'brain.cycle.v1'

/** The newest cycles, newest first, live. */
export const useCycles = () => {
  const query = useQuery(queries.events({ type: 'brain.cycle', limit: CYCLES_MAX }))
  const events = useRecentEvents(isCycle, { older: query.data?.items, limit: CYCLES_MAX })
  return { query, cycles: events.map(cycleOf) }
}

const cycleOf = ({ ts, payload }: EventItem): Cycle => ({
  id: textOf(payload['cycle_id']),
  ts,
  trigger: textOf(payload['trigger']),
  regime: textOf(payload['regime']),
  killSwitchLevel: Number(payload['kill_switch_level'] ?? 0),
  symbols: textsOf(payload['symbols']),
  intents: Number(payload['intents'] ?? 0),
  durationMs: Number(payload['duration_ms'] ?? 0),
  warnings: textsOf(payload['warnings']),
  weights: numbersOf(payload['weights']),
})

export const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []

const numbersOf = (value: unknown): Weights =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
      )
    : {}
