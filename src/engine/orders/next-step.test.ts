import { expect, it } from 'vitest'
import { intentId, orderId, positionId, timestampOf } from '../../core/shared/brand.ts'
import { NO_QUANTITY, priceFrom, quantityFrom } from '../../core/shared/money.ts'
import type { OpenOrder } from '../../core/trading/orders/orders.ts'
import { nextStep, type StepFacts } from './next-step.ts'

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
