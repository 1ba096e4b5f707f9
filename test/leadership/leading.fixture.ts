import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningService } from '../interface/service.ts'

const UNTIL_MS = 110_000

const EVERY_MS = 50

/** Gives how often it asked in vain. */
export const until = async (isSo: () => boolean | Promise<boolean>, everyMs = EVERY_MS): Promise<number> => {
  const giveUpMs = performance.now() + UNTIL_MS
  let count = 0
  for (; !(await isSo()); count += 1) {
    if (performance.now() > giveUpMs) throw new Error(`never so: ${isSo.toString()}`)
    await sleep(everyMs)
  }
  return count
}

/**
 * How often `until` asks in this time at most. A time that is counted in answers is the same on every machine: a slow one
 * answers later, too.
 */
export const asksWithin = (ms: number): number => ms / EVERY_MS

export interface Ready {
  readonly ready?: true
  readonly leading?: boolean
  readonly reasons?: readonly string[]
}

export const readinessOf = async (service: RunningService): Promise<Ready> =>
  (await service.call('GET', '//ready')).body

export const leads = async (service: RunningService): Promise<boolean> =>
  (await readinessOf(service)).leading === true

export interface StoredEvent {
  readonly seq: number
  readonly type: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly signer: string
}

/** All events after this one, oldest first. */
export const eventsAfter = async (service: RunningService, seq: number): Promise<readonly StoredEvent[]> => {
  const events: StoredEvent[] = []
  for (let after: number | null = seq; after !== null;) {
    const page: { items: readonly StoredEvent[]; next_seq: number | null } = (
      await service.call('GET', `/events?order=asc&limit=500&after_seq=${after}`)
    ).body
    events.push(...page.items)
    after = page.next_seq
  }
  return events
}

/** Everything that only a leader stores is there once. */
export const repeatedIn = (events: readonly StoredEvent[]): readonly string[] => {
  const names = events.flatMap(({ type, payload }) => {
    if (type === 'market.bar.v1') return [`bar ${String(payload['symbol'])} ${String(payload['close_ts'])}`]
    return type === 'brain.cycle.v1' ? [`cycle ${String(payload['cycle_id'])}`] : []
  })
  return names.filter((name, index) => names.indexOf(name) !== index)
}
