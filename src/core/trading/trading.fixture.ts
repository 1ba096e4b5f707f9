import { timestampAt } from '../shared/time.ts'
import { timestampOf, intentId, type Timestamp } from '../shared/brand.ts'
import { testContext } from '../../../test/given.fixture.ts'
import type { Command } from '../decide.ts'
import type { Configuration } from '../config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import type { NewEvent, NewPayload } from '../events/catalogue.ts'
import type { Stamped } from '../log/event.ts'
import type { FeedBar } from '../market/bar.ts'
import { barAt } from '../market/bars.fixture.ts'
import { run } from '../run.ts'
import { evolve, INITIAL_STATE, type State } from '../state.ts'
import type { RefusalCode } from '../shared/decision.ts'
import type { JsonObject } from '../shared/json.ts'

export const MINUTE_MS = 60_000
export const BEGIN = timestampOf('2026-02-20T00:30:00.000Z')

type Sections = { readonly [Section in keyof Configuration]?: Partial<Configuration[Section]> }

/** An account that executes commands, minute by minute. */
export class TradingScenario {
  state: State = INITIAL_STATE
  /** All stored events. */
  readonly log: Stamped[] = []
  configuration: Configuration = DEFAULT_CONFIGURATION
  /** Feed that its bars come from. */
  feed = 'ccxt:testvenue'
  #nowMs = Date.parse(BEGIN)
  #count = 0

  constructor(changes: Sections = {}) {
    this.configure(changes)
  }

  configure(changes: Sections): void {
    const sections = (Object.keys(changes) as readonly (keyof Configuration)[]).map((name) => [
      name,
      Object.assign({}, this.configuration[name], changes[name]),
    ])
    this.configuration = Object.assign({}, this.configuration, Object.fromEntries(sections))
  }

  get now(): Timestamp {
    return timestampAt(this.#nowMs)
  }

  /** Time at which an event would be stored. It never decreases. */
  get recordedAt(): Timestamp {
    return this.state.recordedAt > this.now ? this.state.recordedAt : this.now
  }

  /** Advances the clock. A negative time sets it back. */
  wait(ms: number): void {
    this.#nowMs += ms
  }

  do(command: Command): readonly Stamped[] {
    const result = run(this.state, command, this.#context())
    if (result.status === 'refused') throw new Error(`refused: ${result.refusal.code}`)
    this.state = result.state
    this.log.push(...result.events)
    return result.events
  }

  /** Code of the refusal; null if the command is accepted. The state does not change in either case. */
  refusalOf(command: Command): RefusalCode | null {
    const result = run(this.state, command, this.#context())
    return result.status === 'refused' ? result.refusal.code : null
  }

  /** Records an event that no command decided. */
  record(event: NewEvent): void {
    const stamped: Stamped = {
      seq: this.state.seq + 1,
      id: event.id ?? this.#newId(),
      type: event.type,
      ts: event.ts ?? this.now,
      source: event.source,
      traceId: null,
      dedupeKey: null,
      payload: event.payload as unknown as JsonObject,
      recordedAt: this.recordedAt,
    }
    this.state = evolve(this.state, stamped)
    this.log.push(stamped)
  }

  /** Stores the next bar of a symbol, which has just closed. */
  bar(symbol: string, close: number, changes: Partial<FeedBar> = {}): readonly Stamped[] {
    return this.bars([[symbol, close, changes]])
  }

  bars(closes: readonly (readonly [string, number, Partial<FeedBar>?])[]): readonly Stamped[] {
    this.wait(MINUTE_MS)
    const openTs = timestampAt(this.#nowMs - MINUTE_MS)
    const bars = closes.map(([symbol, close, changes]) => {
      const open = changes?.open ?? close
      const range = { open, high: Math.max(open, close), low: Math.min(open, close) }
      return barAt(openTs, close, { symbol, ...range, ...changes })
    })
    return this.do({ kind: 'observe-bars', observation: { feed: this.feed, bars } })
  }

  /** Stores an intent of the brain, executed at once if it is ready. */
  intend(changes: Partial<NewPayload<'execution.trade_intent.v1'>> = {}): readonly Stamped[] {
    const id = changes.cycle_id ?? `intent-${(this.#count += 1)}`
    this.record({ type: 'execution.trade_intent.v1', source: 'brain', id, payload: intentFor(this, changes) })
    return this.do({ kind: 'execute-intent', intentId: intentId(id) })
  }

  #context() {
    return testContext({
      now: this.now,
      recordedAt: this.recordedAt,
      newId: () => this.#newId(),
      configuration: this.configuration,
    })
  }

  #newId(): string {
    return `id-${(this.#count += 1)}`
  }
}

export const typesOf = (events: readonly Stamped[]): readonly string[] => events.map(({ type }) => type)

export const payloadOf = (events: readonly Stamped[], type: string): JsonObject => {
  const found = events.find((event) => event.type === type)
  if (found === undefined) throw new Error(`no ${type} in ${typesOf(events).join(', ')}`)
  return found.payload
}

const intentFor = (
  scenario: TradingScenario,
  changes: Partial<NewPayload<'execution.trade_intent.v1'>>,
): NewPayload<'execution.trade_intent.v1'> => ({
  cycle_id: 'cycle',
  symbol: 'BTC',
  direction: 'long',
  size_pct: 0.05,
  leverage: 2,
  conviction_score: 80,
  regime: 'BULL',
  rationale: 'test',
  stop_loss_pct: scenario.configuration.execution.stop_loss_pct,
  take_profit_pct: scenario.configuration.execution.take_profit_pct,
  valid_until: timestampAt(Date.parse(scenario.now) + 300_000),
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
