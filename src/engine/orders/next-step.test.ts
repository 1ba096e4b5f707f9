import { describe, expect, it } from 'vitest'
import { intentId, orderId, positionId, timestampOf } from '../../core/shared/brand.ts'
import type { KillSwitchLevel } from '../../core/shared/level.ts'
import { NO_QUANTITY, priceFrom, quantityFrom } from '../../core/shared/money.ts'
import type { OpenOrder } from '../../core/trading/orders/orders.ts'
import { Lookups, nextStep, reasonNotToSend, type StepFacts } from './next-step.ts'

const NOW = timestampOf('2026-02-20T00:30:00.000Z')

const order = (purpose: OpenOrder['purpose']): OpenOrder => ({
  id: orderId('order'),
  clientOrderId: 'order',
  positionId: positionId('position'),
  purpose,
  venue: 'somewhere',
  symbol: 'BTC',
  side: 'buy',
  quantity: quantityFrom(1),
  filled: NO_QUANTITY,
  fills: 0,
  referencePrice: priceFrom(100),
  submittedAt: NOW,
  venueOrderId: null,
  tradeIds: [],
  cancelReason: null,
  resends: 0,
  status: 'submitting',
})

const ENTRY = order({ kind: 'entry', intentId: intentId('intent'), limitPrice: null, validUntil: null })
const EXIT = order({ kind: 'exit', reason: 'stop_loss' })

const facts = (changes: Partial<StepFacts> = {}): StepFacts => ({
  level: 0,
  nowMs: Date.parse(NOW),
  isAnyUnknown: false,
  wasSent: () => false,
  isDue: () => true,
  ...changes,
})

it('an entry is held back while any order is unknown, an exit is not', () => {
  expect(nextStep([ENTRY], facts())).toEqual({ kind: 'send', order: ENTRY })
  expect(nextStep([ENTRY], facts({ isAnyUnknown: true }))).toBeNull()
  expect(nextStep([EXIT], facts({ isAnyUnknown: true }))).toEqual({ kind: 'send', order: EXIT })
})

describe('what forbids an order', () => {
  const entryUntil = (validUntil: string | null) =>
    order({
      kind: 'entry',
      intentId: intentId('intent'),
      limitPrice: null,
      validUntil: validUntil === null ? null : timestampOf(validUntil),
    })

  it.each<[string, OpenOrder, KillSwitchLevel, string | null]>([
    ['an entry at level 0', ENTRY, 0, null],
    ['an entry at level 1', ENTRY, 1, null],
    ['an entry at level 2', ENTRY, 2, 'kill_switch'],
    ['an entry at level 3', ENTRY, 3, 'kill_switch'],
    ['an exit at level 2', EXIT, 2, null],
    ['an exit at level 3', EXIT, 3, 'kill_switch'],
    ['an exit by hand at level 3', order({ kind: 'exit', reason: 'manual' }), 3, null],
    ['an order that is being cancelled', { ...ENTRY, cancelReason: 'requested' }, 0, 'requested'],
    ['an entry at its last moment', entryUntil('2026-02-20T00:30:00.000Z'), 0, null],
    ['an entry after its last moment', entryUntil('2026-02-20T00:29:59.999Z'), 0, 'expired'],
  ])('is for %s', (_what, one, level, reason) => {
    expect(reasonNotToSend(one, { level, nowMs: Date.parse(NOW) })).toBe(reason)
  })
})

describe('the next step', () => {
  const STOP = order({ kind: 'protective_stop', triggerPrice: priceFrom(90) })
  const resting = (one: OpenOrder): OpenOrder => ({ ...one, status: 'open' })
  const unknown = (one: OpenOrder): OpenOrder => ({ ...one, status: 'unknown', needsOperator: false })

  it('is none for an order that is not due', () => {
    for (const one of [unknown(ENTRY), resting(ENTRY), { ...resting(ENTRY), cancelReason: 'requested' }])
      expect(nextStep([one], facts({ isDue: () => false }))).toBeNull()
    expect(nextStep([], facts())).toBeNull()
  })

  it.each<[string, readonly OpenOrder[], string]>([
    ['an unknown order, before anything is sent', [EXIT, unknown(ENTRY)], 'look-up'],
    [
      'one to be cancelled, before an exit is sent',
      [EXIT, { ...resting(ENTRY), cancelReason: 'x' }],
      'cancel',
    ],
    ['an exit, before a stop', [STOP, EXIT], 'send exit'],
    ['an unknown stop, before an entry', [ENTRY, unknown(STOP)], 'look-up'],
    ['a stop to be cancelled, before an entry', [ENTRY, { ...resting(STOP), cancelReason: 'x' }], 'cancel'],
    ['a stop, before an entry', [ENTRY, STOP], 'send protective_stop'],
    ['an entry, before resting orders are looked at', [resting(STOP), ENTRY], 'send entry'],
    ['a resting order at last', [{ ...resting(EXIT), status: 'partial' }], 'sweep'],
  ])('is about %s', (_what, orders, wanted) => {
    const step = nextStep(orders, facts())
    expect(step?.kind === 'send' ? `send ${step.order.purpose.kind}` : step?.kind).toBe(wanted)
  })

  it('holds an entry back for a stop that has not ended, though nothing can be asked now', () => {
    const asked = facts({ isDue: () => false })
    expect(nextStep([ENTRY, unknown(STOP)], asked)).toBeNull()
    expect(nextStep([ENTRY, { ...resting(STOP), cancelReason: 'x' }], asked)).toBeNull()
    expect(nextStep([ENTRY, resting(STOP)], asked)).toEqual({ kind: 'send', order: ENTRY })
  })

  it('takes orders by their ids, and withholds what is forbidden or was sent', () => {
    const first = { ...EXIT, id: orderId('a') }
    expect(nextStep([EXIT, first], facts())).toEqual({ kind: 'send', order: first })
    expect(nextStep([ENTRY], facts({ level: 2 }))).toEqual({
      kind: 'withhold',
      order: ENTRY,
      reason: 'kill_switch',
    })
    expect(nextStep([ENTRY], facts({ wasSent: () => true, level: 2 }))).toEqual({
      kind: 'mark-unknown',
      order: ENTRY,
    })
  })
})

describe('lookups', () => {
  const unknown: OpenOrder = { ...EXIT, status: 'unknown', needsOperator: false }
  const opened = () =>
    new Lookups(
      () => ({ attempts: 3, overMs: 30_000 }),
      () => 'exit',
    )

  it('that find nothing are spread over their time, and counted from the second one', () => {
    const lookups = opened()
    expect(lookups.isDue(unknown, 0)).toBe(true)
    expect(lookups.nothingFound(unknown, 0)).toBeNull()
    lookups.begin(unknown, 0)
    const dueMs: number[] = []
    for (let nowMs = 0; nowMs <= 40_000; nowMs += 1000) {
      if (!lookups.isDue(unknown, nowMs)) continue
      dueMs.push(nowMs)
      lookups.begin(unknown, nowMs)
      const found = lookups.nothingFound(unknown, nowMs)
      expect(found).toBe(dueMs.length > 3 ? 3 : null)
      if (found !== null) break
    }
    expect(dueMs).toEqual([0, 10_000, 20_000, 30_000])
  })

  it('wait two seconds after an unclear answer, five after a clear one, and twenty for a stop', () => {
    const STOP = { ...unknown, purpose: { kind: 'protective_stop', triggerPrice: priceFrom(90) } } as const
    for (const [one, settle, pauseMs] of [
      [unknown, 'unclear', 2000],
      [unknown, 'answered', 5000],
      [STOP, 'answered', 20_000],
    ] as const) {
      const lookups = opened()
      lookups.begin(one, 0)
      lookups[settle](one, 1000)
      expect(lookups.isDue(one, 1000 + pauseMs - 1)).toBe(false)
      expect(lookups.isDue(one, 1000 + pauseMs)).toBe(true)
      lookups.ask(one)
      expect(lookups.isDue(one, 1000)).toBe(true)
    }
    // An answer that nobody asked for starts nothing.
    const lookups = opened()
    lookups.unclear(unknown, 0)
    expect(lookups.isDue(unknown, 0)).toBe(true)
  })

  it('begin anew in another state, and are forgotten with their order', () => {
    const lookups = opened()
    lookups.answered(unknown, 0)
    expect(lookups.isDue(unknown, 1)).toBe(false)
    for (const change of [{ status: 'open' }, { resends: 1 }, { cancelReason: 'x' }] as const)
      expect(lookups.isDue({ ...unknown, ...change }, 1), JSON.stringify(change)).toBe(true)
    lookups.forgetAllBut([unknown])
    expect(lookups.isDue(unknown, 1)).toBe(false)
    lookups.forgetAllBut([])
    expect(lookups.isDue(unknown, 1)).toBe(true)
  })
})
