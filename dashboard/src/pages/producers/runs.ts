import type { EventItem } from '../../api/log.ts'
import { textOf } from '../../ui/format.ts'

export interface Run {
  readonly id: string
  readonly ts: string
  readonly name: string
  readonly health: string
  readonly previousHealth: string
  readonly published: number
  readonly durationMs: number
  readonly error: string | null
  readonly rejected: readonly string[]
}

export const isRun = ({ type }: EventItem): boolean => type === 'producer.run.v1'

export const runOf = ({ id, ts, payload }: EventItem): Run => ({
  id,
  ts,
  name: textOf(payload['name']),
  health: textOf(payload['health']),
  previousHealth: textOf(payload['prev_health']),
  published: Number(payload['events_published'] ?? 0),
  durationMs: Number(payload['duration_ms'] ?? 0),
  error: typeof payload['error'] === 'string' ? payload['error'] : null,
  rejected: Array.isArray(payload['rejected']) ? payload['rejected'].map(reasonOf) : [],
})

const reasonOf = (item: unknown): string =>
  typeof item === 'object' && item !== null && 'reason' in item ? textOf(item.reason) : ''
