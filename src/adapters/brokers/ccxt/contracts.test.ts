import { describe, expect, it } from 'vitest'
import type { Quantity } from '../../../core/shared/money.ts'
import { amountOf, coinsOf, contractsIn } from './contracts.ts'
import { reportedOrderOf, tradeIn } from './reports.ts'

const market = (changes: Readonly<Record<string, unknown>> = {}) => ({
  id: 'BTCUSDT',
  symbol: 'BTC/USDT:USDT',
  base: 'BTC',
  quote: 'USDT',
  swap: true,
  linear: true,
  active: true,
  contractSize: '1',
  taker: '0.0005',
  precision: { amount: '0.001', price: '0.1' },
  limits: { amount: { min: '0.001' }, cost: { min: '100' } },
  ...changes,
})

const only = (changes: Readonly<Record<string, unknown>>) => contractsIn({ only: market(changes) })

describe('contracts', () => {
  it('are read with their steps', () => {
    const contract = contractsIn([market()])?.get('BTC')
    expect(contract).toMatchObject({
      market: 'BTC/USDT:USDT',
      isActive: true,
      takerMillionths: 500n,
      steps: {
        quantityStep: 100_000n,
        quantityMin: 100_000n,
        priceStep: 10_000_000n,
        notionalMin: 100_000_000n,
      },
    })
  })

  it.each([
    ['spot', { swap: false }],
    ['settled in the coin itself', { linear: false }],
    ['in another currency', { quote: 'EUR' }],
    ['without a contract size', { contractSize: undefined }],
    [
      'with steps finer than our unit',
      { contractSize: '0.00001', precision: { amount: '0.0001', price: '0.1' } },
    ],
    ['without a step', { precision: { amount: undefined, price: '0.1' } }],
    ['with a step of zero', { precision: { amount: '0', price: '0.1' } }],
    ['with a step that does not divide our unit', { precision: { amount: '0.000000003', price: '0.1' } }],
    ['without a name', { symbol: undefined }],
  ])('that are %s are none', (_, changes) => {
    expect(only(changes)).toBeNull()
  })

  it('of another size have their steps in coins', () => {
    const contract = only({
      contractSize: '0.01',
      precision: { amount: '0.01', price: '0.1' },
      limits: { amount: { min: '0.01' } },
    })?.get('BTC')
    expect(contract?.steps).toMatchObject({ quantityStep: 10_000n, quantityMin: 10_000n })
    expect(contract === undefined ? null : amountOf(5_000_000n as Quantity, contract)).toBe('5')
    expect(contract === undefined ? null : coinsOf('5', contract)).toBe(5_000_000n)
  })

  it('with steps finer than our unit use our unit', () => {
    const contracts = only({ precision: { amount: '1e-12', price: '0.1' } })
    expect(contracts?.get('BTC')?.steps.quantityStep).toBe(1n)
  })

  it('in the preferred dollar coin win', () => {
    const usdc = market({ symbol: 'BTC/USDC:USDC', quote: 'USDC' })
    for (const list of [
      [usdc, market()],
      [market(), usdc],
    ])
      expect(contractsIn(list)?.get('BTC')?.market).toBe('BTC/USDT:USDT')
  })

  it('that are closed are still listed', () => {
    expect(only({ active: false })?.get('BTC')?.isActive).toBe(false)
  })

  it.each([null, undefined, 'page', [], {}])('are none in %s', (answer) => {
    expect(contractsIn(answer)).toBeNull()
  })
})

describe('an order', () => {
  const report = (changes: Readonly<Record<string, unknown>>) =>
    reportedOrderOf(
      { id: '7', clientOrderId: 'a', amount: '2', filled: '0', status: 'open', ...changes },
      'a',
      { unitSize: 100_000_000n as Quantity },
    )

  it.each([
    ['open', '0', 'open'],
    ['open', '1', 'partial'],
    ['canceling', '1', 'partial'],
    ['closed', '2', 'filled'],
    ['closed', '1', 'canceled'],
    ['expired', '0', 'canceled'],
    ['canceled', '2', 'filled'],
    ['rejected', '0', 'rejected'],
  ])('that is %s with %s of 2 is %s', (status, filled, expected) => {
    expect(report({ status, filled })?.status).toBe(expected)
  })

  it.each([
    ['with another client order id', { clientOrderId: 'b' }],
    ['without an id', { id: undefined }],
    ['in an unknown state', { status: 'pending' }],
    ['with a quantity that cannot be read', { filled: '0.1234567890' }],
    ['without a quantity', { amount: undefined }],
  ])('%s is not ours', (_, changes) => {
    expect(report(changes)).toBeNull()
  })
})

describe('a trade', () => {
  const NOW_MS = 1_771_591_000_000
  const trade = (changes: Readonly<Record<string, unknown>>) =>
    tradeIn(
      { id: '1', price: '0.00001234', amount: '100000', timestamp: 1, ...changes },
      { contract: { unitSize: 100_000_000n as Quantity }, nowMs: NOW_MS },
    )

  it.each([
    ['0.00001234', 1234n],
    // OKX and Kraken trade some coins in steps of 1e-9 and less.
    ['0.000012344', 1234n],
    ['0.000012345', 1235n],
    ['1.23461e-5', 1235n],
  ])('at %s is read', (price, expected) => {
    expect(trade({ price })).toMatchObject({ price: expected, quantity: 10_000_000_000_000n })
  })

  it.each([
    ['without a price', { price: undefined }],
    ['at a price that is nothing', { price: '0.000000001' }],
    ['with a quantity that cannot be read', { amount: '0.1234567890' }],
    ['without an id', { id: undefined }],
  ])('%s is none', (_, changes) => {
    expect(trade(changes)).toBeNull()
  })
})
