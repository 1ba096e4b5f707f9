import { describe, expect, it } from 'vitest'
import type { VenueHolding, VenueLiquidation } from './account-sweep.ts'
import { Desk, payloadOf, typesOf } from './trading.fixture.ts'
import { checkedVenue, enterLive, liveDesk, onlyOrder, VENUE } from './live.fixture.ts'
import { openPositionsOf } from './book.ts'
import { equityOf } from './evolve.ts'
import { unitsFrom, usdFrom } from '../shared/money.ts'

const holding = (quantity: number, changes: Partial<VenueHolding> = {}): VenueHolding => ({
  symbol: 'BTC',
  direction: 'long',
  quantity: unitsFrom(quantity),
  entryPrice: unitsFrom(100),
  leverage: 1,
  ...changes,
})

const sweep = (
  desk: Desk,
  positions: readonly VenueHolding[],
  liquidations: readonly VenueLiquidation[] = [],
  quietSymbols: readonly string[] = ['BTC', 'ETH'],
) => desk.do({ kind: 'compare-account', sweep: { venue: VENUE, positions, liquidations, quietSymbols } })

describe('what the venue holds', () => {
  it('is what we hold', () => {
    const desk = liveDesk()
    enterLive(desk)
    expect(sweep(desk, [holding(4.975)])).toEqual([])
  })

  it('is not looked at in a symbol with an order under way, or that was not quiet', () => {
    const desk = liveDesk()
    desk.intend()
    expect(sweep(desk, [holding(3)])).toEqual([])
    expect(sweep(liveDesk(), [holding(3)], [], ['ETH'])).toEqual([])
  })

  it('is adopted where we do not know it: flagged, told, and nothing is opened any more', () => {
    const desk = liveDesk()
    const events = sweep(desk, [holding(3, { direction: 'short' })])
    expect(typesOf(events)).toEqual([
      'execution.position_adopted.v1',
      'alert.execution',
      'execution.reduce_only.v1',
    ])
    const [adopted] = openPositionsOf(desk.state.trading)
    expect(adopted).toMatchObject({
      status: 'open',
      terms: { isAdopted: true, direction: 'short', platform: VENUE },
    })
    expect(payloadOf(desk.intend({ symbol: 'ETH' }), 'execution.order_failed.v1')['reasons']).toContain(
      'venue_unavailable',
    )
    // Said once.
    expect(sweep(desk, [holding(3, { direction: 'short' })])).toEqual([])
  })

  it.each([
    ['its entry', 120, 360],
    ['its price now', 80, 300],
  ])('that is adopted risks all of it, by %s', (_, entry, risked) => {
    const desk = liveDesk()
    const events = sweep(desk, [holding(3, { entryPrice: unitsFrom(entry) })])
    expect(payloadOf(events, 'execution.position_adopted.v1')).toMatchObject({ loss_at_stop_usd: risked })
    expect(desk.state.trading.book.lossAtStop).toBe(usdFrom(risked))
  })

  it('that is adopted raises the switch when it is larger than all risk that is allowed', () => {
    const desk = liveDesk()
    sweep(desk, [holding(7)])
    expect(desk.state.trading.killSwitch.level).toBe(2)
  })

  it('is adopted as far as it is more than ours', () => {
    const desk = liveDesk()
    enterLive(desk)
    expect(payloadOf(sweep(desk, [holding(5.975)]), 'execution.position_adopted.v1')).toMatchObject({
      quantity: 1,
    })
    expect(sweep(desk, [holding(5.975)])).toEqual([])
  })

  it('is never closed by the engine, and always by an operator', () => {
    const desk = liveDesk()
    sweep(desk, [holding(0.5)])
    expect(typesOf(desk.bar('BTC', 80))).not.toContain('execution.order_submitted.v1')
    const [adopted] = openPositionsOf(desk.state.trading)
    const by = { operator: 'op', surface: 'cli' } as const
    desk.do({ kind: 'close-position', positionId: adopted?.id ?? '', by })
    expect(onlyOrder(desk)).toMatchObject({ isExit: true, quantity: unitsFrom(0.5), side: 'sell' })
  })

  it('is told once where it is less than ours, and let go when an operator has looked', () => {
    const desk = liveDesk()
    enterLive(desk)
    const events = sweep(desk, [])
    expect(payloadOf(events, 'execution.venue_differs.v1')).toMatchObject({
      our_quantity: 4.975,
      venue_quantity: 0,
    })
    expect(payloadOf(events, 'alert.execution')).toMatchObject({ cause: 'position_missing' })
    expect(desk.state.trading.venue.reduceOnly).not.toBeNull()
    expect(sweep(desk, [])).toEqual([])
    const resume = { kind: 'resume-live', operator: 'op', reason: 'sold by hand', surface: 'cli' } as const
    expect(payloadOf(desk.do(resume), 'execution.position_closed.v1')).toMatchObject({
      exit_reason: 'manual',
      closed_by: 'op',
    })
    expect(desk.state.trading.venue).toMatchObject({ reduceOnly: null, missing: [] })
    expect(desk.refusalOf(resume)).toBe('live.not_reduce_only')
  })

  it('ends a position that it liquidated, with its price and fee', () => {
    const desk = liveDesk()
    enterLive(desk)
    const liquidation = {
      venueTradeId: 'l1',
      symbol: 'BTC',
      direction: 'long',
      quantity: unitsFrom(4.975),
      price: unitsFrom(60),
      feeUsd: usdFrom(2),
      atMs: Date.parse(desk.now) + 1,
    } as const
    const events = sweep(desk, [], [liquidation])
    expect(payloadOf(events, 'execution.position_closed.v1')).toMatchObject({
      exit_reason: 'liquidated',
      mode: 'live',
      fees_usd: 2.01,
    })
    expect([...desk.state.trading.positions.values()].at(-1)?.status).toBe('liquidated')
    expect(equityOf(desk.state.trading)).toBe(10_000_000_000n - 199_000_000n - 2_010_000n)
    expect(desk.state.trading.venue.reduceOnly).toBeNull()
  })
})

describe('going live', () => {
  const confirmation = { venue: VENUE, operator: 'op', configHash: 'h', equity: usdFrom(777) }

  it('needs an empty table, and begins with what the venue holds', () => {
    const desk = new Desk()
    desk.bar('BTC', 100)
    desk.intend()
    expect(desk.refusalOf({ kind: 'confirm-live', confirmation })).toBe('live.positions_open')
    desk.do({ kind: 'close-all', by: { operator: 'op', surface: 'cli' } })
    desk.do({ kind: 'confirm-live', confirmation })
    expect(equityOf(desk.state.trading)).toBe(777_000_000n)
    expect(desk.state.trading.ledger).toMatchObject({ account: VENUE, fees: 0n, hasTraded: false })
  })

  it('changes nothing in the ledger when it is confirmed again', () => {
    const desk = liveDesk()
    enterLive(desk)
    const before = desk.state.trading.ledger
    desk.do({ kind: 'confirm-live', confirmation })
    expect(desk.state.trading.ledger).toBe(before)
  })

  it('tells a check only when it says something new', () => {
    const desk = liveDesk()
    expect(desk.do(checkedVenue())).toEqual([])
    expect(typesOf(desk.do(checkedVenue(false)))).toEqual(['execution.venue_checked.v1'])
    expect(typesOf(desk.do(checkedVenue(false, ['ETH'])))).toEqual(['execution.venue_checked.v1'])
  })
})
