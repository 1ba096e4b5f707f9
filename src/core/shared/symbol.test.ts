import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalSymbol } from './symbol.ts'

describe('canonicalSymbol', () => {
  it.each([
    ['BTC', 'BTC'],
    [' btc ', 'BTC'],
    ['btc/usdt', 'BTC'],
    ['BTC/USDT:USDT', 'BTC'],
    ['BTC-PERP', 'BTC'],
    ['btc_usd', 'BTC'],
    ['BTC / USDT', 'BTC'],
    ['BTCUSDT', 'BTC'],
    ['ethusdc', 'ETH'],
    ['SOLUSD', 'SOL'],
    ['HYPEPERP', 'HYPE'],
    ['ＢＴＣ／ＵＳＤＴ', 'BTC'],
  ])('reads %s as %s', (spelling, canonical) => {
    expect(canonicalSymbol(spelling)).toBe(canonical)
  })

  it('drops a suffix only if two characters remain, and only one', () => {
    expect(['USDT', 'XUSD', 'OPUSD', 'USDTUSDT', 'BTCUSDUSDT'].map(canonicalSymbol)).toStrictEqual([
      'USDT',
      'XUSD',
      'OP',
      'USDT',
      'BTCUSD',
    ])
  })

  it('is empty for text that names nothing', () => {
    expect(['', '  ', '/USDT', '-'].map(canonicalSymbol)).toStrictEqual(['', '', '', ''])
  })

  it('does not see case, blanks around, or what follows a separator', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z0-9]{1,10}$/),
        fc.constantFrom('/', ':', '-', '_'),
        (name, mark) => {
          expect(canonicalSymbol(` ${name}${mark}usd `)).toBe(canonicalSymbol(name.toUpperCase()))
        },
      ),
    )
  })
})
