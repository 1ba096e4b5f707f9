import type { VenueCheck } from '../../core/trading/venue.ts'
import type { Broker } from '../../ports/broker.ts'
import type { Timer } from '../../ports/timer.ts'
import type { Engine } from '../engine.ts'
import type { AccountWatch, SweepResult } from './account-watch.ts'

export interface VenueWatchDependencies {
  readonly engine: Engine
  readonly broker: Broker
  readonly venue: string
  readonly timer: Timer
  readonly symbols: () => readonly string[]
  readonly account: AccountWatch
  readonly signal: AbortSignal
  readonly onError: (what: string, error?: unknown) => void
}

const ACCOUNT_SWEEP_MS = 30_000
/** A difference is looked at again soon. */
const CONFIRM_MS = 3000
/** What a venue trades, and how fine, changes rarely. */
const CHECK_MS = 3_600_000
const CHECK_AGAIN_MS = 30_000

const NO_ACCOUNT = { name: 'account', ok: false, detail: 'the venue does not tell what it holds' } as const

/** Says in the log whether the venue may be traded on: not before its account was held against ours. */
export class VenueWatch {
  readonly #parts: VenueWatchDependencies
  #checkMs = 0

  constructor(parts: VenueWatchDependencies) {
    this.#parts = parts
  }

  /** What the process before this one found counts no more. */
  begin(): Promise<void> {
    return this.#tell([{ name: 'reachable', ok: false, detail: 'not asked yet' }])
  }

  end(): Promise<void> {
    return this.#tell([{ name: 'reachable', ok: false, detail: 'nobody sends orders: the service stopped' }])
  }

  /** Ends at once when told to: a venue that does not answer is not waited for. */
  async run(): Promise<void> {
    const { signal } = this.#parts
    const ended = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    while (!signal.aborted) await Promise.race([this.#turn(), ended])
  }

  async #turn(): Promise<void> {
    const { timer, signal, onError } = this.#parts
    let pauseMs = ACCOUNT_SWEEP_MS
    try {
      if ((await this.#look()) === 'differing') pauseMs = CONFIRM_MS
    } catch (error) {
      onError('the venue could not be looked at', error)
    }
    await timer.wait(pauseMs, signal)
  }

  async #look(): Promise<SweepResult> {
    const { broker, symbols, timer, account, signal } = this.#parts
    const isDue = timer.now() >= this.#checkMs
    const checks = isDue ? await broker.preflight(symbols()) : []
    const swept = signal.aborted ? 'no-answer' : await account.sweep()
    // Nobody sends any more: what was found meanwhile says nothing.
    if (signal.aborted) return swept
    // Whether orders may be sent is said when it is known what is held.
    if (!isDue || swept === 'differing') return swept
    const all = swept === 'agreed' ? checks : [...checks, NO_ACCOUNT]
    await this.#tell(all)
    this.#checkMs = timer.now() + (all.every(({ ok }) => ok) ? CHECK_MS : CHECK_AGAIN_MS)
    return swept
  }

  async #tell(checks: VenueCheck['checks']): Promise<void> {
    const { engine, broker, venue, symbols } = this.#parts
    const check = {
      venue,
      checks,
      symbols: symbols().map((symbol) => ({ symbol, steps: broker.stepsOf(symbol) })),
    }
    await engine.execute({ kind: 'record-venue-check', check })
  }
}
