import { tmpdir } from 'node:os'
import { createSystemClock } from '../../src/adapters/platform/clock/system-clock.ts'
import { memoryLeadership } from '../../src/adapters/storage/memory/memory-leadership.ts'
import { MemoryLog } from '../../src/adapters/storage/memory/memory-log.ts'
import { MemoryStore } from '../../src/adapters/storage/memory/memory-store.ts'
import { openDrivers } from '../../src/compose/drivers.ts'
import type { OpenFeed } from '../../src/compose/market.ts'
import type { Configuration } from '../../src/core/config/schema.ts'
import type { Stamped } from '../../src/core/log/event.ts'
import { foldingOf } from '../../src/core/operations/decide.ts'
import { Engine } from '../../src/engine/engine.ts'
import type { StrategyRunnerDependencies } from '../../src/engine/market/strategy-runner.ts'
import type { Timer } from '../../src/ports/timer.ts'
import { testSigner } from '../signer.fixture.ts'

/** Time that advances as soon as every participant waits for it. */
class SharedTimer implements Timer {
  #nowMs: number
  #waits: { readonly dueMs: number; readonly end: () => void }[] = []

  constructor(startMs: number) {
    this.#nowMs = startMs
  }

  now(): number {
    return this.#nowMs
  }

  wait(ms: number, signal: AbortSignal): Promise<void> {
    if (ms <= 0 || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wait = {
        dueMs: this.#nowMs + ms,
        end: () => {
          this.#waits = this.#waits.filter((other) => other !== wait)
          signal.removeEventListener('abort', wait.end)
          resolve()
        },
      }
      this.#waits.push(wait)
      signal.addEventListener('abort', wait.end)
    })
  }

  /** Advances to the next wait that is due. False while fewer than `parties` wait. */
  step(parties: number): boolean {
    if (this.#waits.length < parties) return false
    const dueMs = Math.min(...this.#waits.map((wait) => wait.dueMs))
    this.#nowMs = Math.max(this.#nowMs, dueMs)
    for (const wait of this.#waits.filter((one) => one.dueMs <= dueMs)) wait.end()
    return true
  }
}

export interface ServiceRun {
  readonly settings: Configuration
  readonly fromMs: number
  readonly toMs: number
  readonly openFeed: OpenFeed
  /** Home folder with the user's code. Default: no code. */
  readonly home?: string
  /** Opens the strategies of the settings in this thread, so that the shared time does not wait for another one. */
  readonly openStrategy?: StrategyRunnerDependencies['open']
  /** How many wait for the time to pass: the feed, the schedule, and whoever begins to when everything is open. */
  readonly parties?: number
  /** Called when everything is open. */
  readonly onOpened?: (engine: Engine, timer: Timer) => Promise<void>
}

export interface RecordedRun {
  readonly events: readonly Stamped[]
  readonly log: MemoryLog
  readonly warnings: readonly string[]
}

/** Drives feeds, producers, schedule and engine as the service does, on simulated time. */
export const runService = async ({
  settings,
  fromMs,
  toMs,
  openFeed,
  home = tmpdir(),
  openStrategy,
  onOpened,
  parties = 2,
}: ServiceRun): Promise<RecordedRun> => {
  const timer = new SharedTimer(fromMs)
  const clock = createSystemClock(() => timer.now())
  const store = new MemoryStore()
  const log = new MemoryLog(store)
  const warnings: string[] = []
  const signer = testSigner()
  const engine = await Engine.open({
    log,
    signer,
    clock,
    snapshotEveryEvents: 1_000_000,
    configuration: () => settings,
    version: 'test',
    onError: (what, error) => warnings.push(`${what}: ${String(error)}`),
  })
  await engine.execute({
    kind: 'start',
    started: {
      version: 'test',
      node_id: signer.nodeId,
      public_key: signer.publicKey,
      ephemeral: true,
      integrity: { ok: true, reason: null, first_bad_seq: null },
      folding: foldingOf(settings),
    },
  })
  const events: Stamped[] = []
  engine.eventBus.subscribe(({ events: some }) => events.push(...some))
  const say = (message: string, fields: object = {}): void =>
    void warnings.push(`${message} ${Object.values(fields).map(String).join(' ')}`)
  let isRunning = false
  const info = (message: string): void => {
    isRunning ||= message.endsWith('feed is running')
  }
  const drivers = await openDrivers({
    environment: {
      home,
      variables: {},
      clock,
      time: { now: () => timer.now(), wallNow: () => timer.now(), slew: () => undefined },
      version: 'test',
      insecureOk: false,
      devMode: false,
      masterPassword: undefined,
    },
    engine,
    configuration: () => settings,
    logger: { debug: () => undefined, info, warn: say, error: say },
    timer,
    leadership: memoryLeadership(store),
    onSecrets: () => undefined,
    openFeed,
    ...(openStrategy === undefined ? {} : { openStrategy }),
  })
  // Waits until the producers have run on past bars, which must not count into the first minute.
  while (!isRunning) await new Promise(setImmediate)
  await onOpened?.(engine, timer)
  while (timer.now() < toMs) {
    if (!timer.step(parties)) await new Promise(setImmediate)
  }
  let isClosed = false
  const closing = drivers.close().finally(() => {
    isClosed = true
  })
  // Closing may wait for the time to advance.
  while (!isClosed) {
    timer.step(1)
    await new Promise(setImmediate)
  }
  await closing
  await engine.close()
  return { events, log, warnings }
}
