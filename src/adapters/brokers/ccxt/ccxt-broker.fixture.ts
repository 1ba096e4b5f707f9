import type { Price, Quantity } from '../../../core/shared/money.ts'
import type { Fault, FaultChoice } from '../../../../test/exchange-server/faults.ts'
import { fillOpenOrder, liquidate } from '../../../../test/exchange-server/matching.ts'
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

/** A broker and the exchange server it sends to. Time moves only by hand; requests are real. */
export const openBrokerFixture = async (
  changes: Partial<CcxtBrokerDependencies> = {},
): Promise<CcxtBrokerFixture> => {
  const timer = createManualTimer(Date.parse('2026-02-20T12:34:56.789Z'))
  const venue = await startExchangeServer({
    now: () => timer.now(),
    timer,
    perpetuals: ['BTC', 'ETH', 'BNB'],
  })
  const { world, faults } = venue
  const { apiKey, secret } = world.account
  world.prices.set('BTC', 6_000_000_000_000n).set('ETH', 300_000_000_000n).set('BNB', 60_000_000_000n)
  const broker = createCcxtBroker({
    exchange: 'binanceusdm',
    credentials: { apiKey, secret },
    leverageMax: 3,
    timer,
    baseUrl: venue.baseUrl,
    ...changes,
  })
  return {
    broker: patient(broker),
    within: (ms) => deadlineIn(timer, ms),
    venue,
    timer,
    addFault: (at, fault, times) => faults.add(REQUESTS[at], FAULTS[fault], times),
    randomFaults: (schedule) =>
      faults.schedule(schedule === null ? null : { ...schedule, choices: RANDOM_FAULTS }),
    setPrice: (symbol, price) => world.prices.set(symbol, price),
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
      world.account.trades
        .filter((trade) => trade.clientOrderId === clientOrderId)
        .map(({ tradeId, price, quantity }) => ({
          venueTradeId: String(tradeId),
          price: price as Price,
          quantity: quantity as Quantity,
        })),
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
  for (;;) {
    await settle()
    if (isDone) return promise
    await new Promise((resolve) => {
      setTimeout(resolve, 1)
    })
    if (isDone || venue.answering() > 0) continue
    // A server that is silent on purpose stays so: larger steps miss nothing.
    await timer.advance(venue.inFlight() > 0 ? SILENT_STEP_MS : STEP_MS)
  }
}

const STEP_MS = 20
const SILENT_STEP_MS = 1000

const REQUESTS: Readonly<Record<RequestKind, RegExp>> = {
  submit: /^POST .*\/v1\/order$/,
  lookup: /^GET .*\/v1\/order$/,
  cancel: /^DELETE .*\/v1\/order$/,
  trades: /\/userTrades$/,
  account: /\/(account|positionRisk)$/,
  leverage: /\/leverage$/,
  any: /./,
}

/** Longer than any test. */
const NEVER_MS = 600_000

const FAULTS: Readonly<Record<BrokerFault, Fault>> = {
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
  unknown_after: { kind: 'done_then_status', status: 400, code: -1007 },
  limit: refusal(429, -1003, 'Too many requests; current limit is 2400 requests per minute.', 30),
  limit_of_a_proxy: { kind: 'status', status: 429 },
  ban: refusal(418, -1003, 'Way too many requests; IP banned until 1771591000000.', 120),
  refusal: refusal(400, -2019, 'Margin is insufficient.'),
  wrong_precision: { kind: 'done_then_wrong_precision' },
  lost: { kind: 'lost' },
  hidden: { kind: 'hidden', lookups: 2 },
  part_then_canceled: { kind: 'partial', share: 0.5, rest: 'canceled' },
  part_then_open: { kind: 'partial', share: 0.5, rest: 'open' },
  late_trades: { kind: 'late_trades', queries: 3 },
  repeated_trades: { kind: 'repeated' },
  shuffled_trades: { kind: 'shuffled' },
}

function refusal(status: number, code: number, message: string, retryAfterSeconds?: number): Fault {
  const fault = { kind: 'refuse', status, code, message } as const
  return retryAfterSeconds === undefined ? fault : { ...fault, retryAfterSeconds }
}

const at = (kind: RequestKind, faults: readonly BrokerFault[]): readonly FaultChoice[] =>
  faults.map((fault) => ({ request: REQUESTS[kind], fault: FAULTS[fault] }))

/** Without silence, which takes some real time each. */
const RANDOM_FAULTS: readonly FaultChoice[] = [
  ...at('submit', [
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
  ]),
  ...at('trades', [
    'drop_before',
    'server_error_before',
    'wrong_precision',
    'repeated_trades',
    'shuffled_trades',
  ]),
  ...at('leverage', ['drop_before', 'refusal']),
]
