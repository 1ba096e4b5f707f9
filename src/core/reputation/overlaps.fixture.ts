import { stateAfter } from '../../../test/given.fixture.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { authorKey } from '../shared/author-key.ts'
import { timestampOf } from '../shared/brand.ts'
import { timestampAt } from '../shared/time.ts'
import { HOUR_MS } from './calls.fixture.ts'
import { repeatsOf, type Overlaps } from './overlaps.ts'

export const START_MS = Date.parse(timestampOf('2026-01-01T00:00:00.000Z'))
export const at = (hours: number) => timestampAt(START_MS + hours * HOUR_MS)

export interface Said {
  readonly who: string
  readonly hour: number
  readonly direction?: 'bullish' | 'bearish' | 'neutral'
  readonly callId?: string
  readonly symbol?: string
  readonly receivedAt?: string
  readonly refPrice?: null
  /** Due hour of its call. Default: a day later. */
  readonly dueHour?: number
}

export const recorded = ({
  who,
  hour,
  direction = 'bullish',
  callId,
  symbol = 'BTC',
  receivedAt,
  refPrice,
  dueHour = hour + 24,
}: Said): NewEvent => ({
  type: 'attribution.recorded.v1',
  source: who,
  ts: at(hour),
  payload: {
    signal_id: `${who} ${hour}`,
    contributor_id: null,
    node_id: null,
    producer_id: who,
    received_at: receivedAt ?? at(hour),
    symbol,
    direction,
    score: null,
    probability: 0.7,
    call_id: callId ?? `${who} ${hour} ${symbol}`,
    horizon: '24h',
    due_at: at(dueHour),
    ref_price: refPrice === null ? null : 100,
    ref_sigma: null,
  },
})

export const after = (...said: readonly Said[]): Overlaps =>
  stateAfter(said.map(recorded)).reputation.overlaps

export const key = (who: string): string => authorKey(null, who)

export const shareOf = (overlaps: Overlaps, later: string, earlier: string): number | undefined =>
  repeatsOf(overlaps).find((one) => one.later === key(later) && one.earlier === key(earlier))?.share
