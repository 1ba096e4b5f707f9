import type { AccessEntry } from '../../core/operations/decide.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Logger } from '../../ports/logger.ts'
import { withinTime } from './time-limit.ts'

/** 401s recorded per minute in all; each address and route is recorded once in it. */
export const DENIALS_PER_MINUTE_MAX = 60

const MINUTE_MS = 60_000

/** Records access to the API as events. */
export class AccessAudit {
  readonly #engine: Engine
  readonly #logger: Logger
  readonly #timeoutMs: number
  #minute = 0
  readonly #recordedDenials = new Set<string>()

  constructor(engine: Engine, logger: Logger, timeoutMs: number) {
    this.#engine = engine
    this.#logger = logger
    this.#timeoutMs = timeoutMs
  }

  /**
   * Stores the entry before the request is answered. The effect of the request remains, so a store that fails now does
   * not change the response. The process log then names the missing entry.
   */
  async record(entry: AccessEntry, traceId: string | null): Promise<void> {
    const report = (error: unknown): void =>
      this.#logger.error('access could not be recorded', { ...entry, error })
    try {
      const command = { kind: 'record-access', entry, surface: 'api' } as const
      const stored = await withinTime(this.#engine.execute(command, { traceId }), this.#timeoutMs, report)
      if (stored.status === 'late') report(new Error('the store took too long'))
    } catch (error) {
      report(error)
    }
  }

  /** Callers without a valid token can cause these at will, so their number is bounded. */
  async recordUnauthenticated(
    entry: AccessEntry,
    from: { readonly address: string; readonly route: string; readonly nowMs: number },
  ): Promise<void> {
    const minute = Math.floor(from.nowMs / MINUTE_MS)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#recordedDenials.clear()
    }
    const key = `${from.address} ${from.route}`
    if (this.#recordedDenials.has(key) || this.#recordedDenials.size >= DENIALS_PER_MINUTE_MAX) return
    this.#recordedDenials.add(key)
    await this.record(entry, null)
  }
}
