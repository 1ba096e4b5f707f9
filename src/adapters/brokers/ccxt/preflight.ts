import {
  NO_QUANTITY,
  NO_USD,
  quantityNumber,
  usdFrom,
  usdNumber,
  type Usd,
} from '../../../core/shared/money.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import type { BrokerCheck } from '../../../ports/broker.ts'
import type { Contracts } from './contracts.ts'
import type { Exchange, FailedReply, Reply } from './exchange.ts'

export const CHECK_NAMES = [
  'reachable',
  'markets',
  'permissions',
  'balance',
  'clock',
  'minimum_sizes',
] as const satisfies readonly BrokerCheck['name'][]

/** Whether orders may be sent, check by check. What cannot be read has not passed. */
export const checkExchange = async (
  exchange: Exchange,
  symbols: readonly string[],
  leverage: number,
): Promise<readonly BrokerCheck[]> => {
  const clock = await exchange.measureClock()
  const markets = await exchange.reload()
  const balance =
    markets.status === 'done' ? await exchange.request(() => exchange.api.fetchBalance()) : markets
  const equity = balance.status === 'done' ? (exchange.dialect.equityIn(balance.value) ?? NO_USD) : NO_USD
  const affordable = (equity * usdFrom(Math.max(1, leverage))) / usdFrom(1)
  return [
    checkReachable(clock, markets),
    markets.status === 'done' ? checkMarkets(markets.value, symbols) : failed('markets', markets),
    balance.status === 'done' ? await checkPermissions(exchange, symbols) : failed('permissions', balance),
    balance.status === 'done' ? checkBalance(equity) : failed('balance', balance),
    clock.status === 'done' ? checkClock(clock.value) : failed('clock', clock),
    markets.status === 'done'
      ? checkMinimumSizes(markets.value, symbols, affordable)
      : failed('minimum_sizes', markets),
  ]
}

type Name = BrokerCheck['name']

const check = (name: Name, ok: boolean, detail: string): BrokerCheck => ({ name, ok, detail })

const failed = (name: Name, { reason }: FailedReply): BrokerCheck => check(name, false, reason)

const checkReachable = (clock: Reply<unknown>, markets: Reply<unknown>): BrokerCheck => {
  const failure = [clock, markets].find((reply): reply is FailedReply => reply.status !== 'done')
  if (failure !== undefined) return failed('reachable', failure)
  return check('reachable', true, 'the exchange responds')
}

const checkMarkets = (markets: Contracts, symbols: readonly string[]): BrokerCheck => {
  const missing = symbols.filter((symbol) => markets.get(canonicalSymbol(symbol))?.isActive !== true)
  if (missing.length === 0) return check('markets', true, `a perpetual for each of ${symbols.length} symbols`)
  const names = missing.join(', ')
  const detail = `no perpetual that is settled in dollars for ${names}: remove them from universe.symbols`
  return check('markets', false, detail)
}

/** A key that trades and cannot withdraw, in an account with one position per market. */
const checkPermissions = async (exchange: Exchange, symbols: readonly string[]): Promise<BrokerCheck> => {
  const { api, dialect, request, contracts } = exchange
  const fail = (detail: string): BrokerCheck => check('permissions', false, detail)
  const market = symbols.flatMap((symbol) => contracts().get(canonicalSymbol(symbol))?.market ?? [])[0]
  if (market !== undefined) {
    const hedged = await request(() => dialect.isHedged(api, market))
    if (hedged.status !== 'done') return fail(hedged.reason)
    if (hedged.value) return fail('the account is in hedge mode: switch it to one-way mode')
  }
  const rights = await request(() => dialect.rights(api))
  if (rights.status !== 'done') return fail(rights.reason)
  if (rights.value === null)
    return check('permissions', true, 'the key may read; the exchange does not list its other permissions')
  if (!rights.value.mayTrade) return fail('the key may not trade futures: enable futures for it')
  if (rights.value.mayWithdraw) return fail('the key may withdraw: use one that may only read and trade')
  return check('permissions', true, 'the key may read and trade, and not withdraw')
}

const checkBalance = (equity: Usd): BrokerCheck => check('balance', equity > 0n, `${usdNumber(equity)} USD`)

const checkClock = (offsetMs: number | null): BrokerCheck =>
  offsetMs === null
    ? check('clock', true, 'the exchange does not report its time')
    : check(
        'clock',
        Math.abs(offsetMs) < OFFSET_MS_MAX,
        `the exchange is ${offsetMs} ms ahead of this machine`,
      )

/** Signatures use the exchange's time, but a larger offset distorts everything else. */
const OFFSET_MS_MAX = 1000

const checkMinimumSizes = (
  markets: Contracts,
  symbols: readonly string[],
  affordable: bigint,
): BrokerCheck => {
  const found = symbols.flatMap((symbol) => markets.get(canonicalSymbol(symbol)) ?? [])
  const tooLarge = found.filter(({ steps }) => (steps.notionalMin ?? 0n) > affordable)
  const sizes = found.map(
    ({ base, steps }) =>
      `${base} ${quantityNumber(steps.quantityMin ?? NO_QUANTITY)} and ${usdNumber(steps.notionalMin ?? NO_USD)} USD`,
  )
  return tooLarge.length === 0
    ? check('minimum_sizes', true, `at least ${sizes.slice(0, SIZES_MAX).join(', ')}`)
    : check(
        'minimum_sizes',
        false,
        `the account is too small for ${tooLarge.map(({ base }) => base).join(', ')}`,
      )
}

const SIZES_MAX = 10
