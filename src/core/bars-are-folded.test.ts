import { describe, expect, it } from 'vitest'
import { evolveBrain } from './brain/evolve.ts'
import type { KnownEvent } from './events/catalogue.ts'
import type { Stamped } from './log/event.ts'
import { observedBar } from './market/bar.ts'
import { barAt } from './market/bars.fixture.ts'
import { evolveMarket } from './market/evolve.ts'
import { evolveOperations } from './operations/evolve.ts'
import { evolveReputation } from './reputation/evolve.ts'
import { timestampOf } from './shared/brand.ts'
import { evolveSignals } from './signals/evolve.ts'
import { afterBar, evolve, INITIAL_STATE } from './state.ts'
import { evolveTreasury } from './treasury/evolve.ts'

const TS = timestampOf('2026-02-20T00:10:00.000Z')
const bar = barAt(TS, 100)
const event: Stamped = {
  seq: 1,
  id: 'one',
  type: 'market.bar.v1',
  ts: TS,
  source: 'market',
  traceId: null,
  dedupeKey: null,
  payload: { ...bar, feed: 'file' },
  recordedAt: TS,
}

describe('a bar', () => {
  it('changes the state alike with its event and without', () => {
    const state = afterBar(INITIAL_STATE, observedBar(bar, 'file'), event)
    expect(state).toEqual(evolve(INITIAL_STATE, event))
    expect(state.market.symbols.size).toBe(1)
  })

  it('is folded by market and trading alone', () => {
    const known = event as unknown as KnownEvent
    const { market, signals, reputation, brain, treasury, operations } = INITIAL_STATE
    expect(evolveMarket(market, known)).toEqual(market)
    expect(evolveSignals(signals, known)).toEqual(signals)
    expect(evolveReputation(reputation, known)).toEqual(reputation)
    expect(evolveBrain(brain, known)).toEqual(brain)
    expect(evolveTreasury(treasury, known)).toEqual(treasury)
    expect(evolveOperations(operations, known)).toEqual(operations)
  })
})
