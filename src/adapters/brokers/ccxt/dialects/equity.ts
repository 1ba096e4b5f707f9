import { sumOf, type Usd } from '../../../../core/shared/money.ts'
import { DOLLARS, memberOf, textMemberOf } from '../../../ccxt.ts'
import { usdOf } from '../decimals.ts'

/** Sum of the dollar coins; other coins do not count. Null where the balance has none of them. */
export const dollarTotal = (balance: unknown): Usd | null => {
  const totals = memberOf(balance, 'total')
  return sumOfDollars((dollar) => memberOf(totals, dollar))
}

/** The same of a list with an entry for each coin. */
export const dollarsIn = (coins: readonly unknown[], name: string, amount: string): Usd | null =>
  sumOfDollars((dollar) =>
    memberOf(
      coins.find((coin) => textMemberOf(coin, name) === dollar),
      amount,
    ),
  )

export const sumOfDollars = (amountOf: (dollar: string) => unknown): Usd | null => {
  const amounts = DOLLARS.flatMap((dollar) => usdOf(amountOf(dollar), 'down') ?? [])
  return amounts.length === 0 ? null : sumOf(amounts)
}
