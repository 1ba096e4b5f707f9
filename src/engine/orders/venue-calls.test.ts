import { describe, expect, it } from 'vitest'
import { createMemoryExchange } from '../../../test/simulation/memory-exchange.fixture.ts'
import { intentId, orderId, positionId, timestampOf } from '../../core/shared/brand.ts'
import { NO_QUANTITY, priceFrom, quantityFrom } from '../../core/shared/money.ts'
import type { OpenOrder } from '../../core/trading/orders/orders.ts'
import type { Broker, BrokerOrder, OrderReport, StopReport } from '../../ports/broker.ts'
import { createManualTimer, passTime } from '../../ports/manual-timer.fixture.ts'
import { cancelAtVenue, lookUp, sendOrder, type VenueConnection } from './venue-calls.ts'

const ORDER: OpenOrder = {
  id: orderId('order'),
  clientOrderId: 'client-order',
  positionId: positionId('position'),
  purpose: { kind: 'entry', intentId: intentId('intent'), limitPrice: priceFrom(101), validUntil: null },
  venue: 'somewhere',
  symbol: 'BTC',
  side: 'buy',
  quantity: quantityFrom(2),
  filled: quantityFrom(1),
  fills: 0,
  referencePrice: priceFrom(100),
  submittedAt: timestampOf('2026-02-20T00:30:00.000Z'),
  venueOrderId: null,
  tradeIds: [],
  cancelReason: null,
  resends: 0,
  status: 'open',
}
const EXIT: OpenOrder = { ...ORDER, purpose: { kind: 'exit', reason: 'stop_loss' } }
const STOP: OpenOrder = { ...ORDER, purpose: { kind: 'protective_stop', triggerPrice: priceFrom(90) } }

const REPORT: OrderReport = {
  clientOrderId: 'client-order',
  venueOrderId: 'v1',
  status: 'open',
  filledQuantity: NO_QUANTITY,
  fills: [],
}
const CANCELED = { ...REPORT, status: 'canceled' } as const
const about = { orderId: ORDER.id }
const record = (report: OrderReport, lookups: number | null = null) => ({
  kind: 'record',
  command: { kind: 'record-report', ...about, report, lookups },
})

const timer = createManualTimer(0)

/** A venue that answers these calls in this way. */
const venueWith = (calls: Partial<Broker>): VenueConnection => ({
  broker: { ...createMemoryExchange(() => timer.now()), stops: null, ...calls },
  timer,
  timeoutMs: 5000,
  spelling: (symbol) => `${symbol}/USDT`,
  leverageOf: () => 3,
})
const answers = (value: unknown) => ({
  submit: () => Promise.resolve(value as never),
  cancel: () => Promise.resolve(value as never),
  lookup: () => Promise.resolve(value as never),
})
const stopsThat = (value: unknown) => ({
  stops: {
    ...answers(value),
    place: () => Promise.resolve(value as never),
  } as unknown as NonNullable<Broker['stops']>,
})
const mayGo = () => null

describe('an order that is sent', () => {
  it.each([
    [{ status: 'accepted', report: REPORT }, record(REPORT).command],
    [
      { status: 'rejected', reason: 'no' },
      { kind: 'record-rejection', ...about, reason: 'no' },
    ],
    [
      { status: 'unclear', reason: 'lost' },
      { kind: 'mark-order-unknown', ...about, reason: 'lost' },
    ],
    [
      { status: 'not_sent', reason: 'busy', retryAfterMs: 7 },
      { kind: 'record-not-sent', ...about, reason: 'busy', retryAfterMs: 7 },
    ],
  ])('and is answered is recorded as it was (%#)', async (answer, command) => {
    expect(await sendOrder(ORDER, venueWith(answers(answer)), mayGo)).toEqual(command)
  })

  it('is an immediate limit that may open, or a market order that may only reduce', async () => {
    const sent: BrokerOrder[] = []
    const venue = venueWith({
      submit: (order) => {
        sent.push(order)
        return Promise.resolve({ status: 'accepted', report: REPORT })
      },
    })
    const named = { clientOrderId: 'client-order', symbol: 'BTC/USDT', side: 'buy', leverage: 3 }
    for (const order of [ORDER, EXIT]) await sendOrder(order, venue, mayGo)
    expect(sent).toEqual([
      {
        ...named,
        kind: 'immediate_limit',
        quantity: quantityFrom(2),
        limitPrice: priceFrom(101),
        reduceOnly: false,
      },
      { ...named, kind: 'market', quantity: quantityFrom(2), limitPrice: null, reduceOnly: true },
    ])
  })

  it('is over for the venue once something forbids it, and then was not sent', async () => {
    let forbidden: string | null = null
    const venue = venueWith({
      submit: (_order, deadline) => {
        expect(deadline.isOver()).toBe(false)
        forbidden = 'kill_switch'
        expect(deadline.isOver()).toBe(true)
        return Promise.resolve({ status: 'not_sent', reason: 'over', retryAfterMs: null })
      },
    })
    expect(await sendOrder(ORDER, venue, () => forbidden)).toEqual({
      kind: 'record-unsent',
      ...about,
      reason: 'kill_switch',
    })
  })

  it('is unknown if the venue fails, or does not answer a second after its time', async () => {
    const failing = venueWith({ submit: () => Promise.reject(new Error('reset')) })
    const unknown = { kind: 'mark-order-unknown', ...about }
    expect(await sendOrder(ORDER, failing, mayGo)).toEqual({ ...unknown, reason: 'reset' })
    let isAborted = (): boolean => false
    const silent = venueWith({
      submit: (_order, { signal }) => {
        isAborted = () => signal.aborted
        return new Promise(() => undefined)
      },
    })
    const sending = sendOrder(ORDER, silent, mayGo)
    await passTime(timer, 4999)
    expect(isAborted()).toBe(false)
    await passTime(timer, 1)
    expect(isAborted()).toBe(true)
    await passTime(timer, 1000)
    expect(await sending).toEqual({ ...unknown, reason: 'no answer in 5000 ms' })
  })
})

describe('an order that is cancelled or looked up', () => {
  it.each([
    [{ status: 'canceled', report: CANCELED }, record(CANCELED)],
    [
      { status: 'unclear', reason: 'lost' },
      { kind: 'unclear', reason: 'lost' },
    ],
  ])('and is answered is recorded as it was (%#)', async (answer, finding) => {
    expect(await cancelAtVenue(ORDER, venueWith(answers(answer)))).toEqual(finding)
  })

  it('is looked up if it cannot be cancelled, because it has ended', async () => {
    const cancel = () => Promise.resolve({ status: 'not_open' } as const)
    const lookup = () => Promise.resolve({ status: 'found', report: REPORT } as const)
    expect(await cancelAtVenue(ORDER, venueWith({ cancel, lookup }))).toEqual(record(REPORT))
  })

  it.each([
    [{ status: 'found', report: REPORT }, record(REPORT, 1)],
    [{ status: 'not_found' }, { kind: 'nothing-found' }],
    [{ status: 'unsupported' }, { kind: 'record', command: { kind: 'record-lookup-unsupported', ...about } }],
    [
      { status: 'unclear', reason: 'lost' },
      { kind: 'unclear', reason: 'lost' },
    ],
  ])('and is found is recorded as it was (%#)', async (answer, finding) => {
    expect(await lookUp(ORDER, venueWith(answers(answer)), 1)).toEqual(finding)
  })

  it('is unclear if the venue fails', async () => {
    const fails = () => Promise.reject(new Error('reset'))
    const venue = venueWith({ cancel: fails, lookup: fails })
    for (const finding of [await cancelAtVenue(ORDER, venue), await lookUp(ORDER, venue, 1)])
      expect(finding).toEqual({ kind: 'unclear', reason: 'reset' })
  })
})

describe('a stop', () => {
  const stop = (status: StopReport['status'], order: OrderReport | null = null) =>
    ({ clientOrderId: 'client-order', venueOrderId: 's1', status, order }) as StopReport
  const filled: OrderReport = { ...REPORT, status: 'filled', filledQuantity: quantityFrom(2) }

  it.each([
    ['resting', stop('resting'), { ...REPORT, venueOrderId: 's1' }],
    ['triggered', stop('triggered'), { ...REPORT, venueOrderId: 's1' }],
    ['triggered', stop('triggered', filled), { ...filled, venueOrderId: 's1' }],
    ['canceled', stop('canceled'), { ...CANCELED, venueOrderId: 's1' }],
    ['rejected', stop('rejected'), { ...REPORT, venueOrderId: 's1', status: 'rejected' as const }],
    ['canceled', stop('canceled', filled), { ...filled, venueOrderId: 's1', status: 'canceled' as const }],
  ])('that is %s is an order of its state', async (_status, found, report) => {
    expect(await lookUp(STOP, venueWith(stopsThat({ status: 'found', stop: found })), null)).toEqual(
      record(report),
    )
    expect(await sendOrder(STOP, venueWith(stopsThat({ status: 'accepted', stop: found })), mayGo)).toEqual(
      record(report).command,
    )
  })

  it('that is cancelled keeps what was filled, and other answers are those of orders', async () => {
    expect(await cancelAtVenue(STOP, venueWith(stopsThat({ status: 'canceled' })))).toEqual(
      record({ ...CANCELED, venueOrderId: '', filledQuantity: quantityFrom(1) }),
    )
    const known = { ...STOP, venueOrderId: 's7' } as OpenOrder
    expect(await cancelAtVenue(known, venueWith(stopsThat({ status: 'canceled' })))).toMatchObject({
      command: { report: { venueOrderId: 's7' } },
    })
    const unclear = { status: 'unclear', reason: 'lost' }
    expect(await cancelAtVenue(STOP, venueWith(stopsThat(unclear)))).toMatchObject({ kind: 'unclear' })
    expect(await lookUp(STOP, venueWith(stopsThat({ status: 'not_found' })), null)).toEqual({
      kind: 'nothing-found',
    })
    expect(
      await sendOrder(STOP, venueWith(stopsThat({ status: 'rejected', reason: 'no' })), mayGo),
    ).toMatchObject({ kind: 'record-rejection' })
  })

  it('cannot rest at a venue without stops', async () => {
    const venue = venueWith({})
    expect(await sendOrder(STOP, venue, mayGo)).toEqual({
      kind: 'record-not-sent',
      ...about,
      reason: 'stops cannot rest at the venue',
      retryAfterMs: null,
    })
    for (const finding of [await cancelAtVenue(STOP, venue), await lookUp(STOP, venue, null)])
      expect(finding).toMatchObject({ command: { kind: 'record-lookup-unsupported' } })
  })
})
