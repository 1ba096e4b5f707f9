import { sumOf } from '../shared/money.ts'
import { isOpen } from '../trading/positions/positions.ts'
import { callId as callIdOf, positionId } from '../shared/brand.ts'
import { describe, expect, it } from 'vitest'
import {
  HOUR_MS,
  RESOLVED,
  configured,
  say,
  bullish,
  verdictsIn,
  stringOrEmpty,
  recordOf,
  barAfter,
} from './calls.fixture.ts'
import { payloadOf, typesOf } from '../trading/trading.fixture.ts'

describe('a call that is traded on', () => {
  const traded = (direction: 'long' | 'short' = 'long') => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    const { signal_id: id, call_id: callId } = say(scenario, 'ann', {
      direction: direction === 'long' ? 'bullish' : 'bearish',
      conviction: 8,
    })
    const signalId = stringOrEmpty(id)
    scenario.intend({ direction, signal_ids: [signalId], attribution: [{ signal_id: signalId, weight: 1 }] })
    return { scenario, signalId, callId }
  }

  it('is decided by the trade, not by its horizon', () => {
    const { scenario, callId } = traded()
    const atItsTime = barAfter(scenario, 24 * HOUR_MS, 101)
    expect(verdictsIn(atItsTime)).toEqual([])
    expect(payloadOf(atItsTime, 'attribution.measured.v1')).toMatchObject({
      call_id: callId,
      contributor_id: 'id of ann',
      return_pct: 0.01,
      hit: true,
      base_rate: 0.4,
    })
    const events = scenario.bar('BTC', 120, { open: 111 })
    expect(payloadOf(events, 'execution.position_closed.v1')).toMatchObject({ exit_reason: 'take_profit' })
    const [position] = [...scenario.state.trading.positions.values()]
    expect(verdictsIn(events)).toMatchObject([
      {
        call_id: callId,
        resolved_by: 'trade',
        position_id: position?.id,
        hit: true,
        band_pct: 0.0022,
        base_rate: 0.333333333,
        return_pct: payloadOf(events, 'execution.position_closed.v1')['realized_pnl_pct'],
      },
    ])
    expect(typesOf(events).indexOf(RESOLVED)).toBeGreaterThan(
      typesOf(events).indexOf('execution.position_closed.v1'),
    )
    expect(scenario.state.reputation.calls.rates.trades).toEqual({ wins: 1, count: 1, lastId: position?.id })
    expect(scenario.state.reputation.calls).toMatchObject({
      open: expect.objectContaining({ size: 0 }),
      ofPosition: expect.objectContaining({ size: 0 }),
    })
  })

  it('is measured at its time though the trade is over, and once', () => {
    const { scenario, callId } = traded()
    expect(verdictsIn(scenario.bar('BTC', 90))).toMatchObject([{ call_id: callId, hit: false }])
    expect(scenario.state.reputation.outcomes.byAuthor.size).toBe(0)
    expect(say(scenario, 'ann', bullish)['call_id']).not.toBe(callId)
    const events = barAfter(scenario, 24 * HOUR_MS - 60_000, 105)
    expect(payloadOf(events, 'attribution.measured.v1')).toMatchObject({ call_id: callId, hit: true })
    expect(scenario.state.reputation.calls.open.has(callIdOf(stringOrEmpty(callId)))).toBe(false)
    expect(scenario.state.reputation.outcomes.byAuthor.get('contributor:id of ann')?.slice(6, 8)).toEqual([
      1, 1,
    ])
    expect(recordOf(scenario, 'ann')).toMatchObject({ resolved: 1, profitable: 0 })
  })

  it('is a miss when the trade lost, whatever the direction', () => {
    const { scenario } = traded('short')
    const [verdict] = verdictsIn(scenario.bar('BTC', 106))
    expect(verdict).toMatchObject({ hit: false, direction: 'bearish', resolved_by: 'trade' })
    expect(recordOf(scenario, 'ann')).toMatchObject({ resolved: 1, profitable: 0 })
  })

  it('waits for all its positions, and adds up what they made', () => {
    const { scenario, signalId } = traded()
    scenario.configure({ execution: { max_positions_per_symbol: 2 } })
    scenario.intend({ signal_ids: [signalId], attribution: [{ signal_id: signalId, weight: 1 }] })
    const ids = [...scenario.state.trading.positions.keys()]
    expect(ids).toHaveLength(2)
    const by = { operator: 'svc-1', surface: 'api' } as const
    scenario.bar('BTC', 103)
    expect(
      verdictsIn(scenario.do({ kind: 'close-position', positionId: positionId(ids[0] ?? ''), by })),
    ).toEqual([])
    const [verdict] = verdictsIn(
      scenario.do({ kind: 'close-position', positionId: positionId(ids[1] ?? ''), by }),
    )
    expect(verdict).toMatchObject({ hit: true, position_id: ids[1] })
    const closed = [...scenario.state.trading.positions.values()].flatMap((one) => (isOpen(one) ? [] : one))
    const net = Number(sumOf(closed.map(({ end }) => end.realized)))
    const entered = Number(sumOf(closed.map(({ holding }) => holding.notional)))
    expect(verdict?.['return_pct']).toBeCloseTo(net / entered, 9)
  })

  it('is joined for an eighth of its horizon, and no longer', () => {
    const { scenario, callId } = traded()
    scenario.wait(3 * HOUR_MS - 1)
    expect(say(scenario, 'ann', bullish)).toMatchObject({ call_id: callId })
    scenario.wait(1)
    const next = say(scenario, 'ann', bullish)['call_id']
    expect(next).not.toBe(callId)
    expect(say(scenario, 'ann', bullish)).toMatchObject({ call_id: next })
  })

  it('is decided by its horizon when the trade came too late', () => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    const signalId = stringOrEmpty(say(scenario, 'ann', bullish)['signal_id'])
    barAfter(scenario, 24 * HOUR_MS - 60_000, 100)
    scenario.wait(60_001)
    scenario.intend({ signal_ids: [signalId], attribution: [{ signal_id: signalId, weight: 1 }] })
    expect(scenario.state.trading.positions.size).toBe(1)
    scenario.wait(-1)
    expect(verdictsIn(scenario.bar('BTC', 103))).toMatchObject([{ resolved_by: 'horizon', hit: true }])
  })
})
