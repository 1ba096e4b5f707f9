import { nodeId } from '../../src/core/shared/brand.ts'
import { timestampAt } from '../../src/core/shared/time.ts'
import type { Command } from '../../src/core/decide.ts'
import type { Configuration } from '../../src/core/config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../../src/core/config/validate.ts'
import { foldingOf } from '../../src/core/operations/decide.ts'
import type { Stamped } from '../../src/core/log/event.ts'
import { run } from '../../src/core/run.ts'
import { INITIAL_STATE, type State } from '../../src/core/state.ts'
import { weightsInForce } from '../../src/core/brain/learning.ts'
import type { Domain } from '../../src/core/shared/domains.ts'
import { equityOf } from '../../src/core/trading/risk/account.ts'
import { usdNumber } from '../../src/core/shared/money.ts'
import { sha256Hex } from '../../src/engine/sha256.ts'
import { createBookkeeper, createPaymaster, withoutCopycats, type Books } from './copies.ts'
import { BEGIN_MS, courseOf, type Course } from './course.ts'
import { createObserver, type Observed, type Observer } from './observer.ts'
import {
  AHEAD_BARS,
  authorsOf,
  FEW,
  FREQUENT,
  FREQUENT_ORIGINALS,
  ORIGINALS,
  POPULATION,
  PUMP,
  REPEATING,
  type Author,
  type AuthorPlan,
} from './population.ts'

/** One life of an engine, from an empty state to its last day. */
export interface LifePlan {
  readonly seed: number
  readonly market: 'default' | 'walk'
  readonly learning: boolean
  readonly population: keyof typeof POPULATIONS
  readonly days: number
}

export interface LifeReport extends Observed {
  readonly plan: LifePlan
  readonly netReturn: number
  /**
   * Change of the weights by learning: the change for domains with skilled authors minus the change for other domains.
   */
  readonly weightMoved: number
  /**
   * Amount that each author would have received of the same profits without copycats. Null for a life without copycats.
   */
  readonly paidWithoutCopycats: Readonly<Record<string, number>> | null
  /**
   * Share of each author in all votes of the last third of the cycles, with copycats and without them in the same
   * cycles.
   */
  readonly votesWithCopycats: Readonly<Record<string, number>>
  readonly votesWithoutCopycats: Readonly<Record<string, number>>
  /** Share of the decisions that copycats changed. */
  readonly changedByCopycats: number
  readonly books: Books
}

const POPULATIONS = {
  all: POPULATION,
  alone: ORIGINALS,
  few: FEW,
  frequent: FREQUENT,
  'frequent alone': FREQUENT_ORIGINALS,
  repeating: REPEATING,
} as const

const BARS_PER_DAY = 24
const CYCLE_BARS = 4
const FUNDING_BARS = 8
const BAR_SECONDS = 3600
const LEARNING_BARS = 7 * BARS_PER_DAY

export const live = (plan: LifePlan): LifeReport => {
  const configuration = configurationOf(plan)
  const barCount = plan.days * BARS_PER_DAY
  const course = courseOf(configuration, barCount + AHEAD_BARS, plan.market === 'default' ? PUMP : null)
  const plans = POPULATIONS[plan.population]
  const authors = authorsOf(plans, course, { seed: plan.seed, blind: plan.market === 'walk', barCount })
  const driver = createDriver(configuration)
  const observer = createObserver(plans, configuration)
  const paymaster = createPaymaster(plans)
  const bookkeeper = createBookkeeper(plans)
  const turnBar = Math.floor(barCount / 2)
  driver.at(BEGIN_MS)
  driver.do({ kind: 'start', started: startedWith(configuration) })
  for (const author of plans) driver.do(registrationOf(author))
  for (let bar = 0; bar < barCount; bar += 1) {
    const closeMs = BEGIN_MS + (bar + 1) * configuration.market.bar_seconds * 1000
    driver.at(closeMs)
    const bars = course.bars[bar] ?? []
    const observed = driver.do({ kind: 'observe-bars', observation: { feed: 'simulated', bars } })
    observer.see(observed, driver.state)
    paymaster.see(observed)
    bookkeeper.see(observed)
    if (bar === turnBar) observer.turn()
    speak(authors, course, { bar, turned: bar >= turnBar, closeMs }, driver, observer)
    driver.at(closeMs + QUIET_MS)
    const isNext = (everyBars: number): boolean => (bar + 1) % everyBars === 0
    if (isNext(FUNDING_BARS) && driver.state.trading.book.count > 0) {
      driver.do({ kind: 'apply-funding', at: timestampAt(closeMs) })
    }
    if (isNext(CYCLE_BARS)) {
      const cycle = { kind: 'run-cycle', cycleId: `cycle-${bar}`, trigger: 'schedule' } as const
      const reduced = withoutCopycats(driver.state)
      const otherwise = reduced === null ? null : driver.imagine(reduced, cycle)
      const events = driver.do(cycle)
      if (otherwise !== null) paymaster.cycle(events, otherwise, bar >= (2 / 3) * barCount)
      bookkeeper.cycle(bar, events)
      observer.see(events, driver.state)
      paymaster.see(events)
      bookkeeper.see(events)
      observer.convictions(events, (symbol) =>
        course.moveSign(bar, course.symbols.indexOf(symbol), AHEAD_BARS),
      )
    }
    if (plan.learning && isNext(LEARNING_BARS)) {
      driver.do({
        kind: 'run-learning',
        cause: { trigger: 'schedule', due: timestampAt(closeMs) },
      })
    }
  }
  const start = usdNumber(driver.state.trading.ledger.startBalance)
  return {
    plan,
    netReturn: usdNumber(equityOf(driver.state.trading)) / start - 1,
    weightMoved: weightMovedIn(driver.state, configuration),
    paidWithoutCopycats: withoutCopycats(driver.state) === null ? null : Object.fromEntries(paymaster.paid),
    votesWithCopycats: Object.fromEntries(paymaster.votes),
    votesWithoutCopycats: Object.fromEntries(paymaster.votesWithout),
    changedByCopycats: paymaster.changedDecisions(),
    books: bookkeeper.books,
    ...observer.observed(driver.state, timestampAt(driver.nowMs())),
  }
}

const weightMovedIn = ({ brain }: State, configuration: Configuration): number => {
  const { weights } = weightsInForce(brain.learning, configuration)
  const moved = (domain: Domain): number => weights[domain] - configuration.weights[domain]
  return moved('onchain') + moved('tradfi') - moved('social') - moved('events')
}

/** All authors submit within ten minutes after the close, one after the other. */
const QUIET_MS = 600_000

const speak = (
  authors: readonly Author[],
  course: Course,
  { bar, turned, closeMs }: { readonly bar: number; readonly turned: boolean; readonly closeMs: number },
  driver: Driver,
  observer: Pick<Observer, 'seen' | 'see'>,
): void => {
  for (const [place, author] of authors.entries()) {
    for (const symbol of course.symbols.keys()) {
      driver.at(closeMs + 1000 * (place + 1))
      for (const { direction, payload } of author.words(bar, symbol, turned)) {
        observer.seen(author.plan.name, direction === course.moveSign(bar, symbol, AHEAD_BARS))
        observer.see(driver.do(commandOf(author.plan, payload)), driver.state)
      }
    }
  }
}

const commandOf = ({ name, role }: AuthorPlan, payload: Parameters<typeof emission>[2]): Command =>
  role === 'contributor'
    ? {
        kind: 'submit-signal',
        submission: {
          eventType: 'signal.curator.v1',
          nodeId: nodeId(name),
          ts: null,
          source: null,
          payload,
          dedupeKey: null,
        },
      }
    : emission(name, `signal.${role}.v1`, payload)

const emission = (
  producerId: string,
  type: string,
  payload: Extract<Command, { kind: 'emit-signal' }>['emission']['payload'],
): Command => ({
  kind: 'emit-signal',
  emission: { producerId, type, payload, ts: null, dedupeKey: null },
})

const registrationOf = ({ name, role }: AuthorPlan): Command =>
  role === 'contributor'
    ? {
        kind: 'register-contributor',
        registration: { nodeId: nodeId(name), name, role: 'curator', metadata: {} },
        surface: 'system',
      }
    : {
        kind: 'register-producer',
        producer: {
          name,
          domain: role === 'etf' ? 'tradfi' : role,
          endpoint: 'https://example.com',
          schedule: '0 */6 * * *',
        },
        surface: 'system',
      }

const startedWith = (configuration: Configuration): Extract<Command, { kind: 'start' }>['started'] => ({
  version: 'bench',
  node_id: 'bench',
  public_key: '',
  ephemeral: false,
  integrity: { ok: true, reason: null, first_bad_seq: null },
  folding: foldingOf(configuration),
})

/** Default configuration with a coarser clock, and with limits that never need a restart by an operator. */
const configurationOf = ({ seed, market, learning }: LifePlan): Configuration => ({
  ...DEFAULT_CONFIGURATION,
  market: {
    ...DEFAULT_CONFIGURATION.market,
    feed: 'simulated',
    profile: market,
    seed,
    tick_seconds: 900,
    bar_seconds: BAR_SECONDS,
    max_mark_age_seconds: 2 * BAR_SECONDS,
    warmup_hours: 0,
  },
  ta: { ...DEFAULT_CONFIGURATION.ta, bar_seconds: BAR_SECONDS },
  settlement: { ...DEFAULT_CONFIGURATION.settlement, grace_seconds: BAR_SECONDS },
  brain: { ...DEFAULT_CONFIGURATION.brain, cycle_interval_seconds: 14_400 },
  kill_switch: {
    ...DEFAULT_CONFIGURATION.kill_switch,
    l1_daily_loss_pct: 1,
    l1_fill_divergence_pct: 1,
    l2_loss_streak: 0,
    l2_portfolio_heat_pct: 1,
    l3_max_drawdown_pct: 1,
  },
  risk: { ...DEFAULT_CONFIGURATION.risk, daily_loss_limit_pct: 0, max_drawdown_pct: 1 },
  learning: { ...DEFAULT_CONFIGURATION.learning, enabled: learning },
  karma: { ...DEFAULT_CONFIGURATION.karma, treasury_address: 'bench' },
})

interface Driver {
  readonly state: State
  nowMs(): number
  at(ms: number): void
  do(command: Command): readonly Stamped[]
  /** Events of a command in another state, which stays unchanged. */
  imagine(other: State, command: Command): readonly Stamped[]
}

/** Drives the core itself, on recorded time. */
const createDriver = (configuration: Configuration): Driver => {
  let state = INITIAL_STATE
  let nowMs = 0
  let ids = 0
  const context = {
    traceId: null,
    configuration,
    version: 'bench',
    sha256Hex,
    nodeId: nodeId('bench'),
    sign: () => '',
    isSigned: () => false,
    elapsedMs: () => 0,
  }
  const decided = (from: State, command: Command, newId: () => string) => {
    const result = run(from, command, { ...context, newId, now: timestampAt(nowMs) })
    if (result.status === 'refused') throw new Error(`${command.kind}: ${result.refusal.detail}`)
    return result
  }
  return {
    get state() {
      return state
    },
    nowMs: () => nowMs,
    at: (ms) => {
      nowMs = ms
    },
    do: (command) => {
      const result = decided(state, command, () => `id-${(ids += 1)}`)
      state = result.state
      return result.events
    },
    imagine: (other, command) => {
      let imagined = 0
      return decided(other, command, () => `imagined-${(imagined += 1)}`).events
    },
  }
}
