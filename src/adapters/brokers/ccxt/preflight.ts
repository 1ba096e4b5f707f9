import { unitsNumber, usdFrom, usdNumber } from '../../../core/shared/money.ts'
import type { BrokerCheck } from '../../../ports/broker.ts'
import { equityIn } from './account.ts'
import type { Reply } from './connection.ts'
import { contractOf, type Contracts } from './contracts.ts'
import { memberOf } from './values.ts'
import type { Venue } from './venue.ts'

/** Whether orders may be sent, point by point. What cannot be seen has not passed. */
export const checkVenue = async (
  venue: Venue,
  symbols: readonly string[],
  leverage: number,
): Promise<readonly BrokerCheck[]> => {
  const { exchange, ask } = venue.connection
  const clock = await venue.connection.measureClock()
  const markets = await venue.reload()
  const balance = markets.status === 'done' ? await ask(() => exchange.fetchBalance()) : markets
  const equity = balance.status === 'done' ? (equityIn(balance.value) ?? 0n) : null
  return [
    reachable(clock, markets),
    marketsCheck(markets, symbols),
    balance.status === 'done' ? await permissions(venue, symbols) : failed('permissions', balance),
    balance.status === 'done' ? balanceCheck(equity ?? 0n) : failed('balance', balance),
    clock.status === 'done' ? clockCheck(clock.value) : failed('clock', clock),
    minimumSizes(markets, symbols, ((equity ?? 0n) * usdFrom(Math.max(1, leverage))) / usdFrom(1)),
  ]
}

/** Of a venue that could not even be opened. */
export const nothingPasses = (detail: string): readonly BrokerCheck[] =>
  NAMES.map((name) => ({ name, ok: false, detail }))

const NAMES = ['reachable', 'markets', 'permissions', 'balance', 'clock', 'minimum_sizes'] as const

type Failure = Extract<Reply<unknown>, { readonly reason: string }>

const failed = (name: BrokerCheck['name'], { reason }: Failure): BrokerCheck => ({
  name,
  ok: false,
  detail: reason,
})

const reachable = (clock: Reply<unknown>, markets: Reply<unknown>): BrokerCheck => {
  const failure = [clock, markets].find((reply): reply is Failure => reply.status !== 'done')
  return failure === undefined
    ? { name: 'reachable', ok: true, detail: 'it answers' }
    : failed('reachable', failure)
}

const marketsCheck = (markets: Reply<Contracts>, symbols: readonly string[]): BrokerCheck => {
  if (markets.status !== 'done') return failed('markets', markets)
  const missing = symbols.filter((symbol) => contractOf(markets.value, symbol)?.isActive !== true)
  return {
    name: 'markets',
    ok: missing.length === 0,
    detail:
      missing.length === 0
        ? `a perpetual for each of ${symbols.length} symbols`
        : `no perpetual that is settled in dollars for ${missing.join(', ')}`,
  }
}

const no = (detail: string): BrokerCheck => ({ name: 'permissions', ok: false, detail })

/** A key that trades and cannot withdraw, in an account that holds one position for each market. */
const permissions = async (venue: Venue, symbols: readonly string[]): Promise<BrokerCheck> => {
  const { exchange, ask } = venue.connection
  const market = symbols.flatMap((symbol) => contractOf(venue.contracts(), symbol)?.market ?? [])[0]
  if (exchange.has['fetchPositionMode'] === true && market !== undefined) {
    const mode = await ask(() => exchange.fetchPositionMode(market))
    if (mode.status !== 'done') return no(mode.reason)
    if (memberOf(mode.value, 'hedged') === true)
      return no('the account is in hedge mode: switch it to one-way mode')
  }
  // Practice accounts have no such list.
  const listsRights = memberOf(exchange.urls.api, 'sapi') !== undefined
  if (!listsRights || typeof exchange.sapiGetAccountApiRestrictions !== 'function')
    return { name: 'permissions', ok: true, detail: 'the key may read; the venue does not tell what else' }
  const rights = await ask(async () => exchange.sapiGetAccountApiRestrictions?.())
  if (rights.status !== 'done') return no(rights.reason)
  if (memberOf(rights.value, 'enableFutures') !== true) return no('the key may not trade futures')
  if (memberOf(rights.value, 'enableWithdrawals') === true)
    return no('the key may withdraw: use one that may only read and trade')
  return { name: 'permissions', ok: true, detail: 'the key may read and trade, and not withdraw' }
}

const balanceCheck = (equity: bigint): BrokerCheck => ({
  name: 'balance',
  ok: equity > 0n,
  detail: `${usdNumber(equity)} USD`,
})

const clockCheck = (offsetMs: number | null): BrokerCheck => ({
  name: 'clock',
  ok: offsetMs === null || Math.abs(offsetMs) < OFFSET_MS_MAX,
  detail: offsetMs === null ? 'the venue tells no time' : `the venue is ${offsetMs} ms ahead of this machine`,
})

/** Signatures are made by the venue's time, but a clock that is further off misleads everything else. */
const OFFSET_MS_MAX = 1000

const minimumSizes = (
  markets: Reply<Contracts>,
  symbols: readonly string[],
  affordable: bigint,
): BrokerCheck => {
  if (markets.status !== 'done') return failed('minimum_sizes', markets)
  const found = symbols.flatMap((symbol) => contractOf(markets.value, symbol) ?? [])
  const tooLarge = found.filter(({ steps }) => (steps.notionalMin ?? 0n) > affordable)
  const told = found.map(
    ({ base, steps }) =>
      `${base} ${unitsNumber(steps.quantityMin ?? 0n)} and ${usdNumber(steps.notionalMin ?? 0n)} USD`,
  )
  return {
    name: 'minimum_sizes',
    ok: tooLarge.length === 0,
    detail:
      tooLarge.length === 0
        ? `at least ${told.slice(0, TOLD_MAX).join(', ')}`
        : `the account is too small for ${tooLarge.map(({ base }) => base).join(', ')}`,
  }
}

const TOLD_MAX = 10
