import { configurationFrom } from '../../core/config/recorded.ts'
import { configurationHashInput } from '../../core/config/secrets.ts'
import type { Configuration } from '../../core/config/schema.ts'
import type { Stamped } from '../../core/log/event.ts'
import { configDigitsOf } from '../../core/stored-commands.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { readPages } from '../read-pages.ts'
import { stampedFrom } from '../../core/log/event.ts'
import { payloadOf } from '../../core/log/payload.ts'
import { sha256Hex } from '../sha256.ts'

/** Settings with which decisions were made. */
export interface Settings {
  readonly configuration: Configuration
  readonly hash: string
  /** True for current settings that replace unrecorded ones. */
  readonly isGuess: boolean
}

/** Settings that the log records, in the order of their events. */
export class RecordedSettings {
  readonly #present: Settings
  /** Recorded settings, newest first. */
  #known: readonly Settings[] = []

  constructor(present: Configuration) {
    const hash = sha256Hex(configurationHashInput(present))
    // Settings that no decision reads are not recorded, so the current ones replace them.
    this.#present = { configuration: present, hash, isGuess: true }
  }

  take({ type, payload }: Pick<Stamped, 'type' | 'payload'>): void {
    if (type !== 'system.started.v1' && type !== 'system.config_changed.v1') return
    const { config_hash: hash, configuration: recorded } = payload
    const configuration = configurationFrom(recorded)
    if (typeof hash !== 'string' || configuration === null) return
    const others = this.#known.filter((known) => known.hash !== hash)
    this.#known = [{ configuration, hash, isGuess: false }, ...others].slice(0, KEPT_MAX)
  }

  /** Settings whose hash begins with these digits. The current ones replace settings that the log does not hold. */
  withDigits(digits: string): Settings {
    const known = this.#known.find(({ hash }) => configDigitsOf(hash) === digits)
    const isGuess = configDigitsOf(this.#present.hash) !== digits
    return known ?? { ...this.#present, isGuess }
  }

  /** Reads the settings that were recorded before the first audited event. */
  async readUpTo(log: Pick<EventLog, 'read'>, seq: number): Promise<void> {
    for await (const page of readPages(log, { types: TYPES, before: seq + 1, order: 'asc', limit: PAGE })) {
      for (const record of page) if (payloadOf(record) !== null) this.take(stampedFrom(record))
    }
  }
}

const TYPES = ['system.started', 'system.config_changed'] as const

const PAGE = 500

/** Limit of remembered settings. Beyond it the oldest are dropped. */
const KEPT_MAX = 1000
