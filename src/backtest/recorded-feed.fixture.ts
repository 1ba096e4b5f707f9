import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { Stamped } from '../core/log/event.ts'
import type { FeedBar } from '../core/market/bar.ts'
import type { FeedListener, FeedStart, FeedStatus, MarketFeed } from '../ports/market-feed.ts'
import type { Producer } from '../ports/producer.ts'
import { backtest } from './run.ts'
import type { BacktestDependencies } from './run-dependencies.ts'

/** Bars that closed together, group after group. */
export type BarGroups = Iterable<readonly FeedBar[]>

/** A feed with these groups of bars, as fast as they are taken, which then ends. */
export class RecordedBarsFeed implements MarketFeed {
  readonly name = 'recorded'
  readonly producers: readonly Producer[] = []
  readonly #groups: BarGroups
  #state: FeedStatus['state'] = 'idle'
  #delivering: Promise<void> = Promise.resolve()

  constructor(groups: BarGroups) {
    this.#groups = groups
  }

  start(_from: FeedStart, listener: FeedListener): Promise<void> {
    this.#delivering = this.#deliver(listener)
    return Promise.resolve()
  }

  status(): FeedStatus {
    return { state: this.#state, lastBarAtMs: null, clockOffsetMs: null, error: null }
  }

  stop(): Promise<void> {
    return this.#delivering
  }

  async #deliver(listener: FeedListener): Promise<void> {
    this.#state = 'running'
    for (const group of this.#groups) {
      const taken = listener.onBars(group)
      if (taken !== undefined) await taken
    }
    this.#state = 'ended'
  }
}

type Changes = Partial<Omit<BacktestDependencies, 'settings'>> & {
  readonly execution?: Partial<Configuration['execution']>
  readonly brain?: Partial<Configuration['brain']>
  readonly killSwitch?: Partial<Configuration['kill_switch']>
  readonly risk?: Partial<Configuration['risk']>
}

/** A backtest of these bars, with its events. */
export const runBacktest = async (
  groups: readonly (readonly FeedBar[])[],
  { brain = {}, execution = {}, killSwitch = {}, risk = {}, ...changes }: Changes = {},
) => {
  const events: Stamped[] = []
  const errors: string[] = []
  const result = await backtest({
    strategy: 'always_long',
    feed: new RecordedBarsFeed(groups),
    producers: [],
    settings: {
      ...DEFAULT_CONFIGURATION,
      universe: { ...DEFAULT_CONFIGURATION.universe, symbols: ['BTC', 'ETH'] },
      brain: { ...DEFAULT_CONFIGURATION.brain, ...brain },
      execution: { ...DEFAULT_CONFIGURATION.execution, ...execution },
      kill_switch: { ...DEFAULT_CONFIGURATION.kill_switch, ...killSwitch },
      risk: { ...DEFAULT_CONFIGURATION.risk, ...risk },
    },
    version: 'test',
    fromMs: null,
    toMs: null,
    resetsDaily: false,
    onError: (message) => errors.push(message),
    onEvents: (some) => events.push(...some),
    ...changes,
  })
  const ofType = (type: string): readonly Stamped[] => events.filter((event) => event.type === type)
  return { result, events, errors, ofType }
}
