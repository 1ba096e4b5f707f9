import type { Price, Quantity } from '../../../core/shared/money.ts'
import type { Fault, FaultChoice } from '../../../../test/exchange-server/faults.ts'
import type { VenueTrade as ServerTrade } from '../../../../test/exchange-server/account.ts'
import {
  fillOpenOrder,
  leverageOf,
  liquidate,
  marginModeOf,
} from '../../../../test/exchange-server/matching.ts'
import { BINANCE_WIRE, type Wire } from '../../../../test/exchange-server/requests.ts'
import { movePrice } from '../../../../test/exchange-server/stops.ts'
import type { VenueId } from '../../../core/shared/venues.ts'
import { startExchangeServer, type ExchangeServer } from '../../../../test/exchange-server/exchange-server.ts'
import {
  deadlineIn,
  patient,
  type BrokerFixture,
  type RequestKind,
  type BrokerFault,
} from '../../../ports/broker.fixture.ts'
import { createManualTimer, settle, type ManualTimer } from '../../../ports/manual-timer.fixture.ts'
import { createCcxtBroker, type CcxtBrokerDependencies } from './ccxt-broker.ts'

export interface CcxtBrokerFixture extends BrokerFixture {
  readonly venue: ExchangeServer
  readonly timer: ManualTimer
}

/** A supported venue in tests: the server that speaks its protocol, and its own words for what goes wrong. */
export interface TestVenue {
  readonly id: VenueId
  readonly wire: Wire
  readonly acknowledges: BrokerFixture['acknowledges']
  readonly limitMs: number
  readonly requests: Readonly<Record<RequestKind, RegExp>>
  /** Faults that a venue states with codes of its own. */
  readonly faults: Readonly<Record<'unknown_after' | 'limit' | 'ban' | 'refusal', Fault>>
}

export const BINANCE: TestVenue = {
  id: 'binanceusdm',
  wire: BINANCE_WIRE,
  acknowledges: 'orders',
  limitMs: 30_000,
  requests: {
    submit: /^POST .*\/v1\/order$/,
    lookup: /^GET .*\/v1\/order$/,
    cancel: /^DELETE .*\/v1\/order$/,
    trades: /\/userTrades$/,
    account: /\/(account|positionRisk)$/,
    leverage: /\/leverage$/,
    place_stop: /^POST .*\/algoOrder$/,
    lookup_stop: /^GET .*\/algoOrder$/,
    cancel_stop: /^DELETE .*\/algoOrder$/,
    any: /./,
  },
  faults: {
    unknown_after: { kind: 'done_then_status', status: 400, code: -1007 },
    limit: refusal(429, -1003, 'Too many requests; current limit is 2400 requests per minute.', 30),
    ban: refusal(418, -1003, 'Way too many requests; IP banned until 1771591000000.', 120),
    refusal: refusal(400, -2019, 'Margin is insufficient.'),
  },
}

/** A broker and the exchange server it sends to. Time moves only by hand; requests are real. */
export const openBrokerFixture = (
  changes: Partial<CcxtBrokerDependencies> = {},
): Promise<CcxtBrokerFixture> => openVenueFixture(BINANCE, changes)

export const openVenueFixture = async (
  { id, wire, acknowledges, limitMs, requests, faults: stated }: TestVenue,
  changes: Partial<CcxtBrokerDependencies> = {},
): Promise<CcxtBrokerFixture> => {
  const timer = createManualTimer(Date.parse('2026-02-20T12:34:56.789Z'))
  const venue = await startExchangeServer({
    now: () => timer.now(),
    timer,
    perpetuals: ['BTC', 'ETH', 'BNB'],
    wire,
  })
  const { world, faults } = venue
  const { apiKey, secret, passphrase } = world.account
  world.prices.set('BTC', 6_000_000_000_000n).set('ETH', 300_000_000_000n).set('BNB', 60_000_000_000n)
  const broker = createCcxtBroker({
    exchange: id,
    credentials: { apiKey, secret, password: passphrase },
    leverageMax: 3,
    timer,
    baseUrl: venue.baseUrl,
    ...changes,
  })
  const faultOf = (fault: BrokerFault): Fault => {
    // The first lookup is that of the broker itself, where an order is only acknowledged.
    if (fault === 'hidden') return { kind: 'hidden', lookups: acknowledges === 'ids' ? 3 : 2 }
    return { ...COMMON_FAULTS, ...stated }[fault]
  }
  const published = (trades: readonly ServerTrade[]) =>
    trades.map(({ tradeId, price, quantity }) => ({
      venueTradeId: String(tradeId),
      price: price as Price,
      quantity: quantity as Quantity,
    }))
  return {
    broker: patient(broker),
    within: (ms) => deadlineIn(timer, ms),
    venue,
    timer,
    acknowledges,
    pauseMs: { limit: limitMs, ban: 120_000 },
    addFault: (at, fault, times) => faults.add(requests[at], faultOf(fault), times),
    randomFaults: (schedule) =>
      faults.schedule(
        schedule === null
          ? null
          : {
              ...schedule,
              choices: RANDOM_FAULTS.flatMap(([kind, kinds]) =>
                kinds.map((fault): FaultChoice => ({ request: requests[kind], fault: faultOf(fault) })),
              ),
            },
      ),
    setPrice: (symbol, price) => movePrice(world, symbol, price),
    marginOf: (symbol) => ({
      mode: marginModeOf(world.account, symbol),
      leverage: Number(leverageOf(world.account, symbol)),
    }),
    stickMargins: () => {
      world.areMarginsStuck = true
    },
    restingStops: () =>
      world.account.stops.filter(({ status }) => status === 'resting').map((stop) => stop.clientOrderId),
    tradesOfStop: (clientOrderId) =>
      published(
        world.account.stops.find((stop) => stop.clientOrderId === clientOrderId)?.order?.trades ?? [],
      ),
    delist: (symbol) => world.delisted.add(symbol),
    fillRest: (clientOrderId) => fillOpenOrder(world, clientOrderId),
    liquidate: (symbol) => liquidate(world, symbol),
    requests: () => venue.requests.length,
    now: () => timer.now(),
    orders: () =>
      world.account.orders.map(({ clientOrderId, quantity, price, executed }) => ({
        clientOrderId,
        quantity,
        limitPrice: price,
        executed,
      })),
    tradesOf: (clientOrderId) =>
      published(world.account.trades.filter((trade) => trade.clientOrderId === clientOrderId)),
    pass: (ms) => timer.advance(ms),
    run: (promise) => driven(promise, venue, timer),
    close: () => venue.close(),
  }
}

/** Waits for requests in flight; time moves only when the server has none to respond to. */
const driven = async <T>(promise: Promise<T>, venue: ExchangeServer, timer: ManualTimer): Promise<T> => {
  let isDone = false
  const end = (): void => {
    isDone = true
  }
  void promise.then(end, end)
  for (let idle = 0; ;) {
    await settle()
    if (isDone) return promise
    await new Promise((resolve) => {
      setTimeout(resolve, 1)
    })
    if (isDone) continue
    idle = venue.answering() > 0 ? 0 : idle + 1
    if (idle === 0) continue
    // A server that is silent on purpose stays so: larger steps miss nothing.
    const stepMs = venue.inFlight() > 0 ? SILENT_STEP_MS : STEP_MS
    if (idle < IDLE_TURNS) {
      await timer.advance(stepMs)
      continue
    }
    // No message is under way either: every party waits for the time, and the next wait may be minutes away.
    idle = 0
    await timer.advance(Math.max(stepMs, timer.untilNextMs() ?? 0))
  }
}

const STEP_MS = 20
const SILENT_STEP_MS = 1000
// A request between two sockets is seen by neither side, on a busy machine for some milliseconds.
const IDLE_TURNS = 25

/** Longer than any test. */
const NEVER_MS = 600_000

const COMMON_FAULTS: Readonly<Record<Exclude<BrokerFault, keyof TestVenue['faults'] | 'hidden'>, Fault>> = {
  drop_before: { kind: 'drop' },
  drop_after: { kind: 'done_then_drop' },
  silence_before: { kind: 'slow', waitMs: NEVER_MS },
  silence_after: { kind: 'done_then_slow', waitMs: NEVER_MS },
  late: { kind: 'slow', waitMs: 4500 },
  broken_off: { kind: 'trickle' },
  page_before: { kind: 'garbage' },
  page_after: { kind: 'done_then_garbage' },
  server_error_before: { kind: 'status', status: 502 },
  server_error_after: { kind: 'done_then_status', status: 503 },
  limit_of_a_proxy: { kind: 'status', status: 429 },
  wrong_precision: { kind: 'done_then_wrong_precision' },
  lost: { kind: 'lost' },
  part_then_canceled: { kind: 'partial', share: 0.5, rest: 'canceled' },
  part_then_open: { kind: 'partial', share: 0.5, rest: 'open' },
  late_trades: { kind: 'late_trades', queries: 3 },
  repeated_trades: { kind: 'repeated' },
  shuffled_trades: { kind: 'shuffled' },
}

export function refusal(
  status: number,
  code: number | string,
  message: string,
  retryAfterSeconds?: number,
): Fault {
  const fault = { kind: 'refuse', status, code, message } as const
  return retryAfterSeconds === undefined ? fault : { ...fault, retryAfterSeconds }
}

/** Without silence, which takes some real time each. */
const RANDOM_FAULTS: readonly (readonly [RequestKind, readonly BrokerFault[]])[] = [
  [
    'submit',
    [
      'drop_before',
      'drop_after',
      'page_after',
      'server_error_before',
      'server_error_after',
      'unknown_after',
      'limit',
      'limit_of_a_proxy',
      'ban',
      'refusal',
      'wrong_precision',
      'lost',
      'hidden',
      'part_then_canceled',
      'part_then_open',
      'late_trades',
    ],
  ],
  ['trades', ['drop_before', 'server_error_before', 'wrong_precision', 'repeated_trades', 'shuffled_trades']],
  ['leverage', ['drop_before', 'refusal']],
]
