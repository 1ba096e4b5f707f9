import { describe, expect, it } from 'vitest'
import { marketNames, positionsIn } from './account.ts'
import { contractsIn } from './contracts.ts'

const market = (base: string) => ({
  id: `${base}USDT`,
  symbol: `${base}/USDT:USDT`,
  base,
  quote: 'USDT',
  swap: true,
  linear: true,
  contractSize: '1',
  precision: { amount: '0.001', price: '0.1' },
})
const contracts = contractsIn([market('BTC'), market('ETH')]) ?? new Map()

const entry = (symbol: string, size: string, changes: Readonly<Record<string, unknown>> = {}) => ({
  symbol,
  contracts: size,
  entryPrice: '60000',
  side: 'long',
  leverage: '2',
  ...changes,
})
const symbolsIn = (...entries: readonly unknown[]) =>
  positionsIn(entries, marketNames(contracts, ['BTC-PERP']))?.map(({ symbol, quantity }) => [
    symbol,
    quantity,
  ])

describe('positions of an account', () => {
  it('have the names of the configuration', () => {
    expect(symbolsIn(entry('BTC/USDT:USDT', '0.5'), entry('ETH/USDT:USDT', '2'))).toEqual([
      ['BTC-PERP', 50_000_000n],
      ['ETH', 200_000_000n],
    ])
  })

  it.each([
    ['in another dollar', 'BTC/USDC:USDC'],
    ['settled in the coin, with a size in dollars', 'BTC/USD:BTC'],
    ['on margin', 'BTC/USDT'],
  ])('that are held %s are not those of our market', (_, other) => {
    expect(symbolsIn(entry(other, '10'), entry('BTC/USDT:USDT', '0.5'))).toEqual([['BTC-PERP', 50_000_000n]])
    // Not even if they cannot be read.
    expect(symbolsIn(entry(other, 'many'))).toEqual([])
  })

  it('in a market that is not listed any more still count', () => {
    expect(symbolsIn(entry('SOLUSDT', '3'), entry('SUI/USDT:USDT', '4'))).toEqual([
      ['SOLUSDT', 300_000_000n],
      ['SUI/USDT:USDT', 400_000_000n],
    ])
  })

  it('are unknown where one of them is', () => {
    expect(
      positionsIn([entry('BTC/USDT:USDT', '1', { side: 'both' })], marketNames(contracts, [])),
    ).toBeNull()
    expect(symbolsIn(entry('BTC/USDT:USDT', '0'))).toEqual([])
  })
})
