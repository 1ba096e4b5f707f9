import { configurationFrom } from '../../core/config/recorded.ts'
import { configurationHashInput } from '../../core/config/secrets.ts'
import type { Configuration } from '../../core/config/schema.ts'
import type { Stamped } from '../../core/log/event.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { readPages } from '../read-pages.ts'
import { stampedFrom } from '../../core/log/event.ts'
import { payloadOf } from '../../core/log/payload.ts'
import { sha256Hex } from '../sha256.ts'

/** Settings with which a decision may have been made. */
export interface Settings {
  readonly configuration: Configuration
  readonly hash: string
  /** True for current settings that replace unrecorded ones. */
  readonly isGuess: boolean
}

/** Another process may still use the settings of its start. */
const EARLIER_MAX = 4

/** Settings that the log records, in the order of their events. */
export class RecordedSettings {
  readonly #present: Settings
  /** Recorded settings, newest first. */
  #known: readonly Settings[] = []
  #version = ''

  constructor(present: Configuration) {
    const hash = sha256Hex(configurationHashInput(present))
    // Settings that no decision reads are not recorded, so the current ones replace them.
    this.#present = { configuration: present, hash, isGuess: true }
  }

  /** Release that wrote the latest start event. */
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

  /**
   * Settings with which a decision may have been made, most likely first. If the decision names a hash, only settings
   * with it.
   */
  candidates(hash: string | null): readonly Settings[] {
    if (hash === null) {
      const newest = this.#known.slice(0, 1 + EARLIER_MAX)
      return newest.length === 0 ? [this.#present] : newest
    }
    const named = this.#known.filter((known) => known.hash === hash)
    if (named.length > 0) return named
    return this.#present.hash === hash ? [{ ...this.#present, isGuess: false }] : []
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
