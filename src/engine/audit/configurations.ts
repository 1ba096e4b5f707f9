import { configurationFrom } from '../../core/config/recorded.ts'
import { configurationHashInput } from '../../core/config/secrets.ts'
import type { Configuration } from '../../core/config/schema.ts'
import type { Stamped } from '../../core/log/event.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { readPages } from '../read-pages.ts'
import { stampedFrom } from '../../core/log/event.ts'
import { payloadOf } from '../../core/log/payload.ts'
import { sha256Hex } from '../sha256.ts'

/** Settings that a decision may have been made by. */
export interface Settings {
  readonly configuration: Configuration
  readonly hash: string
  /** Of today, where the log does not hold those of then. */
  readonly isGuess: boolean
}

/** Another process may go on with the settings of its start. */
const EARLIER_MAX = 4

/** The settings that the log holds, in the order of their events. */
export class RecordedSettings {
  readonly #present: Settings
  /** The newest first. */
  #known: readonly Settings[] = []
  #version = ''

  constructor(present: Configuration) {
    const hash = sha256Hex(configurationHashInput(present))
    // The rest of the settings has no part in decisions, and is not recorded.
    this.#present = { configuration: present, hash, isGuess: true }
  }

  /** The release that wrote the newest start. */
  get version(): string {
    return this.#version
  }

  take({ type, payload }: Pick<Stamped, 'type' | 'payload'>): void {
    if (type !== 'system.started.v1' && type !== 'system.config_changed.v1') return
    const { version, config_hash: hash, configuration: recorded } = payload
    if (typeof version === 'string') this.#version = version
    const configuration = configurationFrom(recorded)
    if (typeof hash !== 'string' || configuration === null) return
    const others = this.#known.filter((known) => known.hash !== hash)
    this.#known = [{ configuration, hash, isGuess: false }, ...others].slice(0, KEPT_MAX)
  }

  /** What a decision may have been made by, the likeliest first; by its hash where the decision names it. */
  candidates(hash: string | null): readonly Settings[] {
    if (hash === null) {
      const newest = this.#known.slice(0, 1 + EARLIER_MAX)
      return newest.length === 0 ? [this.#present] : newest
    }
    const named = this.#known.filter((known) => known.hash === hash)
    if (named.length > 0) return named
    return this.#present.hash === hash ? [{ ...this.#present, isGuess: false }] : []
  }

  /** What was recorded before an event at which the audit begins. */
  async readUpTo(log: Pick<EventLog, 'read'>, seq: number): Promise<void> {
    for await (const page of readPages(log, { types: TYPES, before: seq + 1, order: 'asc', limit: PAGE })) {
      for (const record of page) if (payloadOf(record) !== null) this.take(stampedFrom(record))
    }
  }
}

const TYPES = ['system.started', 'system.config_changed'] as const

const PAGE = 500

/** Of a log that was reconfigured more often, the oldest are forgotten. */
const KEPT_MAX = 1000
