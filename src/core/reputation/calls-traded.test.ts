import { describe, expect, it } from 'vitest'
import {
  HOUR_MS,
  RESOLVED,
  house,
  say,
  bullish,
  verdictsIn,
  textOf,
  recordOf,
  barAfter,
} from './calls.fixture.ts'
import { payloadOf, typesOf } from '../trading/trading.fixture.ts'

describe('a call that is traded on', () => {
  const traded = (direction: 'long' | 'short' = 'long') => {
    const desk = house()
    desk.bar('BTC', 100)
    const { signal_id: id, call_id: callId } = say(desk, 'ann', {
      direction: direction === 'long' ? 'bullish' : 'bearish',
      conviction: 8,
    })
    const signalId = textOf(id)
    desk.intend({ direction, signal_ids: [signalId], attribution: [{ signal_id: signalId, weight: 1 }] })
    return { desk, signalId, callId }
  }

  it('is decided by the trade, not by its horizon', () => {
    const { desk, callId } = traded()
    const atItsTime = barAfter(desk, 24 * HOUR_MS, 101)
    expect(verdictsIn(atItsTime)).toEqual([])
    expect(payloadOf(atItsTime, 'attribution.measured.v1')).toMatchObject({
      call_id: callId,
      contributor_id: 'id of ann',
      return_pct: 0.01,
      hit: true,
      base_rate: 0.4,
    })
    const events = desk.bar('BTC', 120, { open: 111 })
    expect(payloadOf(events, 'execution.position_closed.v1')).toMatchObject({ exit_reason: 'take_profit' })
    const [position] = [...desk.state.trading.positions.values()]
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
    expect(desk.state.reputation.calls.rates.trades).toEqual({ wins: 1, count: 1, lastId: position?.id })
    expect(desk.state.reputation.calls).toMatchObject({
      open: expect.objectContaining({ size: 0 }),
      ofPosition: expect.objectContaining({ size: 0 }),
    })
  })

  it('is measured at its time though the trade is over, and once', () => {
    const { desk, callId } = traded()
    expect(verdictsIn(desk.bar('BTC', 90))).toMatchObject([{ call_id: callId, hit: false }])
    expect(desk.state.reputation.outcomes.byAuthor.size).toBe(0)
    expect(say(desk, 'ann', bullish)['call_id']).not.toBe(callId)
    const events = barAfter(desk, 24 * HOUR_MS - 60_000, 105)
    expect(payloadOf(events, 'attribution.measured.v1')).toMatchObject({ call_id: callId, hit: true })
    expect(desk.state.reputation.calls.open.has(textOf(callId))).toBe(false)
    expect(desk.state.reputation.outcomes.byAuthor.get('contributor:id of ann')?.slice(5, 7)).toEqual([1, 1])
    expect(recordOf(desk, 'ann')).toMatchObject({ resolved: 1, profitable: 0 })
  })

  it('is a miss when the trade lost, whatever the direction', () => {
    const { desk } = traded('short')
    const [verdict] = verdictsIn(desk.bar('BTC', 106))
    expect(verdict).toMatchObject({ hit: false, direction: 'bearish', resolved_by: 'trade' })
    expect(recordOf(desk, 'ann')).toMatchObject({ resolved: 1, profitable: 0 })
  })

  it('waits for all its positions, and adds up what they made', () => {
    const { desk, signalId } = traded()
    desk.configure({ execution: { max_positions_per_symbol: 2 } })
    desk.intend({ signal_ids: [signalId], attribution: [{ signal_id: signalId, weight: 1 }] })
    const ids = [...desk.state.trading.positions.keys()]
    expect(ids).toHaveLength(2)
    const by = { operator: 'svc-1', surface: 'api' } as const
    desk.bar('BTC', 103)
    expect(verdictsIn(desk.do({ kind: 'close-position', positionId: ids[0] ?? '', by }))).toEqual([])
    const [verdict] = verdictsIn(desk.do({ kind: 'close-position', positionId: ids[1] ?? '', by }))
    expect(verdict).toMatchObject({ hit: true, position_id: ids[1] })
    const [first, second] = ids.map((id) => desk.state.trading.positions.get(id))
    const net = Number((first?.end?.realized ?? 0n) + (second?.end?.realized ?? 0n))
    const entered = Number((first?.holding.notional ?? 0n) + (second?.holding.notional ?? 0n))
    expect(verdict?.['return_pct']).toBeCloseTo(net / entered, 9)
  })

  it('is joined until its time, and no longer', () => {
    const { desk, callId } = traded()
    desk.wait(24 * HOUR_MS - 1)
    expect(say(desk, 'ann', bullish)).toMatchObject({ call_id: callId })
    desk.wait(1)
    const next = say(desk, 'ann', bullish)['call_id']
    expect(next).not.toBe(callId)
    expect(say(desk, 'ann', bullish)).toMatchObject({ call_id: next })
  })

  it('is decided by its horizon when the trade came too late', () => {
    const desk = house()
    desk.bar('BTC', 100)
    const signalId = textOf(say(desk, 'ann', bullish)['signal_id'])
    barAfter(desk, 24 * HOUR_MS - 60_000, 100)
    desk.wait(60_001)
    desk.intend({ signal_ids: [signalId], attribution: [{ signal_id: signalId, weight: 1 }] })
    expect(desk.state.trading.positions.size).toBe(1)
    desk.wait(-1)
    expect(verdictsIn(desk.bar('BTC', 103))).toMatchObject([{ resolved_by: 'horizon', hit: true }])
  })
})
