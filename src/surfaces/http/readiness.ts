import { setTimeout as sleep } from 'node:timers/promises'
import type { EventLog } from '../../ports/event-log.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import { markReader } from '../../core/signals/prices.ts'
import { isoNow } from '../../engine/iso-now.ts'
import type { HttpDependencies } from './dependencies.ts'
import { withinTime } from './time-limit.ts'

/** Reason to send requests to another process for now. */
export type NotReady = 'starting' | 'draining' | 'store_unavailable'

export interface ReadinessDependencies {
  readonly log: Pick<EventLog, 'head'>
  /** True if nothing can be stored any more. */
  readonly isLost: () => boolean
  readonly isStarting: () => boolean
}

/** Reason why this process cannot decide trades for now. */
export type NotTrading = NotReady | 'not_leading' | 'no_price'

export interface TradeReadiness {
  /** Empty if trades can be decided. */
  readonly reasons: readonly NotTrading[]
  /** The reasons as a sentence for the user. */
  readonly detail: string
}

/**
 * Whether a submission or a cycle can lead to a trade: the process is ready, leads if it may, and has a recent price of
 * every symbol of the universe. Without a feed no price is required.
 */
export const tradeReadiness = async (
  service: Pick<HttpDependencies, 'engine' | 'configuration' | 'clock' | 'mayLead' | 'leads'>,
  readiness: Pick<Readiness, 'reasons'>,
): Promise<TradeReadiness> => {
  const reasons: NotTrading[] = [...(await readiness.reasons())]
  if (service.mayLead && !service.leads()) reasons.push('not_leading')
  const unpriced = unpricedSymbols(service)
  if (unpriced.length > 0) reasons.push('no_price')
  const sentences = reasons.map((reason) =>
    reason === 'no_price' ? `no recent price for ${unpriced.join(', ')}` : SENTENCES[reason],
  )
  return { reasons, detail: sentences.join('; ') }
}

const SENTENCES: Readonly<Record<Exclude<NotTrading, 'no_price'>, string>> = {
  starting: 'the service starts',
  draining: 'the service stops',
  store_unavailable: 'the store does not answer',
  not_leading: 'this process is not the leader',
}

const unpricedSymbols = ({
  engine,
  configuration,
  clock,
}: Pick<HttpDependencies, 'engine' | 'configuration' | 'clock'>): readonly string[] => {
  const settings = configuration.current()
  if (settings.market.feed === 'none') return []
  const mark = markReader(engine.state, { now: isoNow(clock), prices: undefined, configuration: settings })
  return settings.universe.symbols.filter((symbol) => mark(canonicalSymbol(symbol)) === null)
}

/** A client that polled within this time will poll again and see that the service is draining. */
const ASKED_WITHIN_MS = 30_000
/** The endpoint is public, so the store is queried at this interval at most. */
const STORE_CHECK_MS = 250
const STORE_TIMEOUT_MS = 1000

/** Readiness for load balancers. */
export class Readiness {
  readonly #dependencies: ReadinessDependencies
  #askedMs = Number.NEGATIVE_INFINITY
  #drainingSinceMs: number | null = null
  #store: { readonly atMs: number; readonly answers: Promise<boolean> } | null = null

  constructor(dependencies: ReadinessDependencies) {
    this.#dependencies = dependencies
  }

  get isDraining(): boolean {
    return this.#drainingSinceMs !== null
  }

  /** Empty if requests are welcome. */
  async reasons(): Promise<readonly NotReady[]> {
    this.#askedMs = performance.now()
    const reasons: NotReady[] = []
    if (this.#dependencies.isStarting()) reasons.push('starting')
    if (this.isDraining) reasons.push('draining')
    if (this.#dependencies.isLost() || !(await this.#storeAnswers())) reasons.push('store_unavailable')
    return reasons
  }

  /**
   * Reports not ready from now on, while requests are still answered. Resolves after `forMs`, so that load balancers
   * can notice. Resolves at once if none has polled recently.
   */
  async drain(forMs: number): Promise<void> {
    const nowMs = performance.now()
    this.#drainingSinceMs ??= nowMs
    if (nowMs - this.#askedMs <= ASKED_WITHIN_MS) await sleep(forMs)
  }

  #storeAnswers(): Promise<boolean> {
    const nowMs = performance.now()
    if (this.#store === null || nowMs - this.#store.atMs >= STORE_CHECK_MS)
      this.#store = { atMs: nowMs, answers: this.#askStore() }
    return this.#store.answers
  }

  async #askStore(): Promise<boolean> {
    try {
      const head = this.#dependencies.log.head()
      return (await withinTime(head, STORE_TIMEOUT_MS, () => undefined)).status === 'done'
    } catch {
      // The reason is not needed here: requests fail with it too, and report more.
      return false
    }
  }
}
