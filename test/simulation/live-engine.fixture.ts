import { intentId } from '../../src/core/shared/brand.ts'
import { uuidv7 } from 'uuidv7'
import type { Configuration } from '../../src/core/config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../../src/core/config/validate.ts'
import type { NewPayload } from '../../src/core/events/catalogue.ts'
import type { LogRecord } from '../../src/core/log/event.ts'
import { barAt } from '../../src/core/market/bars.fixture.ts'
import type { JsonObject } from '../../src/core/shared/json.ts'
import { usdFrom } from '../../src/core/shared/money.ts'
import { DAY_MS, timestampAt } from '../../src/core/shared/time.ts'
import { Engine } from '../../src/engine/engine.ts'
import { OrderRouter } from '../../src/engine/orders/order-router.ts'
import type { Broker } from '../../src/ports/broker.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import type { Timer } from '../../src/ports/timer.ts'
import { testSigner } from '../signer.fixture.ts'
import { recordsAfter } from '../records.fixture.ts'

export const VENUE = 'exchange'
const MINUTE_MS = 60_000

export interface LiveEngineDependencies {
  readonly log: EventLog
  readonly broker: Broker
  readonly timer: Timer
  readonly execution?: Partial<Configuration['execution']>
  readonly killSwitch?: Partial<Configuration['kill_switch']>
  readonly symbols?: readonly string[]
  /** Number of steps after which the process crashes. A step is a call to the log or the venue, or its result. */
  readonly stepsToLive?: number
}

/** An engine and its order router, on a log and an exchange that outlive both. */
export interface LiveEngine {
  readonly engine: Engine
  readonly router: OrderRouter
  readonly errors: readonly string[]
  /** Prices of the symbols as of the minute that just ended. */
  bars(prices: Readonly<Record<string, number>>, volume?: number): Promise<void>
  /** Appends a trade intent and executes it at once. */
  submitIntent(changes?: Partial<NewPayload<'execution.trade_intent.v1'>>): Promise<string>
  /** Simulates a crash: nothing is waited for. */
  drop(): void
  readonly dropped: Promise<void>
  close(): Promise<void>
}

const liveConfiguration = ({
  execution,
  killSwitch,
  symbols = ['BTC', 'ETH'],
}: Pick<LiveEngineDependencies, 'execution' | 'killSwitch' | 'symbols'>): Configuration => ({
  ...DEFAULT_CONFIGURATION,
  universe: { ...DEFAULT_CONFIGURATION.universe, symbols: [...symbols] },
  // Market losses must not trigger the kill switch here.
  kill_switch: {
    ...DEFAULT_CONFIGURATION.kill_switch,
    l1_fill_divergence_pct: 1,
    l1_daily_loss_pct: 1,
    l2_loss_streak: 0,
    ...killSwitch,
  },
  risk: {
    ...DEFAULT_CONFIGURATION.risk,
    daily_loss_limit_pct: 0,
    kelly: { ...DEFAULT_CONFIGURATION.risk.kelly, prior: 1e9 },
  },
  execution: {
    ...DEFAULT_CONFIGURATION.execution,
    mode: 'live',
    venue: VENUE,
    require_approval: false,
    confirmation_threshold_usd: 1e9,
    ...execution,
  },
})

/** Paper trading for long enough, and a confirmation. */
export const prepareForLive = async (log: EventLog, nowMs: number): Promise<void> => {
  const at = timestampAt(nowMs - 30 * DAY_MS)
  const opened = await openEngine(
    log,
    () => nowMs - 30 * DAY_MS,
    liveConfiguration({ execution: { mode: 'paper' } }),
  )
  await appendEvent(log, at, 'execution.position_opened.v1', { ...PAPER_POSITION, position_id: 'paper-1' })
  await appendEvent(log, at, 'execution.position_closed.v1', PAPER_CLOSE)
  await opened.execute({
    kind: 'confirm-live',
    confirmation: { venue: VENUE, operator: 'op', configHash: 'hash', equity: usdFrom(10_000) },
  })
  await opened.close()
}

export const openLiveEngine = async (dependencies: LiveEngineDependencies): Promise<LiveEngine> => {
  const { timer } = dependencies
  const lifetime = new Lifetime(dependencies.stepsToLive ?? Number.POSITIVE_INFINITY)
  const log = crashing(dependencies.log, lifetime)
  const broker = crashing(dependencies.broker, lifetime)
  const configuration = liveConfiguration(dependencies)
  const errors: string[] = []
  const engine = await openEngine(log, () => timer.now(), configuration)
  const router = new OrderRouter({
    engine,
    broker,
    isLeading: () => true,
    venue: VENUE,
    timer,
    configuration: () => configuration,
    onError: (what, error) => void errors.push(`${what}: ${String(error)}`),
  })
  return {
    engine,
    router,
    errors,
    bars: async (prices, volume = 1) => {
      const openMs = Math.floor(timer.now() / MINUTE_MS) * MINUTE_MS - MINUTE_MS
      const openTs = timestampAt(openMs)
      const bars = Object.entries(prices).map(([symbol, close]) => barAt(openTs, close, { symbol, volume }))
      await engine.execute({ kind: 'observe-bars', observation: { feed: `ccxt:${VENUE}`, bars } })
    },
    submitIntent: async (changes = {}) => {
      const now = timestampAt(timer.now())
      const id = await appendEvent(
        dependencies.log,
        now,
        'execution.trade_intent.v1',
        intentAt(timer.now(), changes),
      )
      await engine.execute({ kind: 'execute-intent', intentId: intentId(id) })
      return id
    },
    dropped: lifetime.over,
    drop: () => {
      lifetime.end()
      // Its loop ends; what it waits for never comes.
      router.close().catch(() => undefined)
    },
    close: async () => {
      await router.close()
      await engine.close()
    },
  }
}

export const allRecords = async (log: EventLog): Promise<readonly LogRecord[]> => {
  const { seq } = await log.head()
  const records: LogRecord[] = []
  for await (const page of log.scan({ after: 0, upTo: seq })) records.push(...page)
  return records
}

class Lifetime {
  isOver = false
  readonly over: Promise<void>
  #left: number
  #resolve: () => void = () => undefined

  constructor(steps: number) {
    this.#left = steps
    this.over = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  /** False when the lifetime is over. */
  step(): boolean {
    this.#left -= 1
    if (this.#left < 0) this.end()
    return !this.isOver
  }

  end(): void {
    this.isOver = true
    this.#resolve()
  }
}

/** After its lifetime no call arrives and none returns. */
const crashing = <Part extends object>(part: Part, lifetime: Lifetime): Part =>
  new Proxy(part, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target)
      if (name === 'stops' && typeof member === 'object' && member !== null) return crashing(member, lifetime)
      if (typeof member !== 'function') return member
      return (...given: readonly unknown[]): unknown => {
        const isWaitedFor = STEPS.has(String(name))
        if (isWaitedFor ? !lifetime.step() : lifetime.isOver) return NEVER
        const answer: unknown = Reflect.apply(member, target, given)
        if (!isWaitedFor || !(answer instanceof Promise)) return answer
        return answer.then((value: unknown) => (lifetime.step() ? value : NEVER))
      }
    },
  })

const NEVER = new Promise<never>(() => undefined)
const STEPS: ReadonlySet<string> = new Set([
  'append',
  'submit',
  'place',
  'cancel',
  'lookup',
  'account',
  'preflight',
])

const openEngine = (log: EventLog, now: () => number, configuration: Configuration): Promise<Engine> =>
  Engine.open({
    log,
    signer: testSigner(),
    clock: { now, newId: uuidv7 },
    snapshotEveryEvents: 1_000_000,
    configuration: () => configuration,
    onError: (what, error) => {
      throw new Error(what, { cause: error })
    },
  })

/** Appends an event after whatever the engine stores meanwhile. */
export const appendEvent = async (
  log: EventLog,
  at: string,
  type: string,
  payload: object,
): Promise<string> => {
  for (;;) {
    const head = await log.head()
    const recordedAt = head.recordedAt > at ? head.recordedAt : at
    const records = recordsAfter(head, 1, () => ({
      type,
      ts: at,
      recordedAt,
      payload: payload as JsonObject,
    }))
    const { status } = await log.append(records, head)
    const [record] = records
    if (status === 'appended' && record !== undefined) return record.id
  }
}

export const intentAt = (
  nowMs: number,
  changes: Partial<NewPayload<'execution.trade_intent.v1'>>,
): NewPayload<'execution.trade_intent.v1'> => ({
  cycle_id: uuidv7(),
  symbol: 'BTC',
  direction: 'long',
  size_pct: 0.02,
  leverage: 1,
  conviction_score: 80,
  regime: 'BULL',
  rationale: 'test',
  stop_loss_pct: 0.05,
  take_profit_pct: 0.1,
  valid_until: timestampAt(nowMs + 300_000),
  conviction_id: 'conviction',
  signal_ids: ['s1'],
  attribution: [{ signal_id: 's1', weight: 1 }],
  intended_price: null,
  approval_required: false,
  status: 'ready',
  pcs_score: 80,
  cts_score: 5,
  ...changes,
})

const PAPER_POSITION = {
  order_id: 'paper-order',
  intent_id: 'paper-intent',
  conviction_id: 'paper-conviction',
  platform: 'paper',
  asset: 'BTC',
  direction: 'long',
  entry_price: 100,
  quantity: 1,
  size_notional: 100,
  leverage: 1,
  margin_type: 'isolated',
  stop_loss: 95,
  take_profit: 110,
  regime_at_entry: 'BULL',
  pcs_at_entry: null,
  cts_at_entry: null,
  signal_ids: [],
  fees_usd: 0,
  mark_price: 100,
  loss_at_stop_usd: 5,
  remaining_size: 0,
}

const PAPER_CLOSE = {
  position_id: 'paper-1',
  asset: 'BTC',
  exit_price: 100,
  realized_pnl: 0,
  realized_pnl_pct: 0,
  fees_usd: 0,
  exit_reason: 'manual',
  mode: 'paper',
  gross_pnl: 0,
  funding_usd: 0,
  trigger: null,
  max_adverse_pct: 0,
  max_favorable_pct: 0,
}
