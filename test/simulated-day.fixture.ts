import { createSimulatedFeed } from '../src/adapters/feeds/simulated/simulated-feed.ts'
import { signatures } from '../src/adapters/platform/signatures/signatures.ts'
import { BUILT_IN_PRODUCERS } from '../src/adapters/producers/all.ts'
import { MemoryLog } from '../src/adapters/storage/memory/memory-log.ts'
import { RecordedTimer } from '../src/backtest/recorded-timer.ts'
import { configurationRecord } from '../src/core/config/recorded.ts'
import type { Configuration } from '../src/core/config/schema.ts'
import { validateValues, DEFAULT_CONFIGURATION } from '../src/core/config/validate.ts'
import { mergeValues } from '../src/core/config/values.ts'
import { asValues } from '../src/core/config/layers.ts'
import { foldingOf } from '../src/core/operations/decide.ts'
import { nodeId } from '../src/core/shared/brand.ts'
import type { JsonObject } from '../src/core/shared/json.ts'
import { Engine } from '../src/engine/engine.ts'
import { MarketRunner } from '../src/engine/market/market-runner.ts'
import { ProducerRunner } from '../src/engine/market/producer-runner.ts'
import { runDueCycle, runDueTasks } from '../src/engine/market/schedule.ts'
import { sha256Hex } from '../src/engine/sha256.ts'
import type { EventLog } from '../src/ports/event-log.ts'
import type { Signer } from '../src/ports/signer.ts'
import { batchSignatureOf, batchText } from '../src/core/log/batch.ts'
import { canonicalJson } from '../src/core/log/canonical-json.ts'
import type { LogRecord } from '../src/core/log/event.ts'
import { testClock, testSigner } from './signer.fixture.ts'
import { rechained } from './tamper/signed-log.fixture.ts'

export const DAY_VERSION = '1.2.3'

export const configurationWith = (values: JsonObject): Configuration => {
  const validated = validateValues(mergeValues(asValues(DEFAULT_CONFIGURATION), values))
  if (validated.status === 'invalid') throw new Error(JSON.stringify(validated.faults))
  return validated.configuration
}

const SETTINGS: JsonObject = {
  universe: { symbols: ['BTC', 'ETH', 'SOL'] },
  brain: { cycle_interval_seconds: 300, min_domains: 1, tiers: [52, 75, 90] },
  settlement: { horizons: { technical: '1h', curator: '1h' } },
  execution: { stop_loss_pct: 0.02, take_profit_pct: 0.004 },
  karma: { enabled: true, treasury_address: '0x52908400098527886E0F7030069857D2E4169EE7' },
}

export interface DayOptions {
  readonly log?: EventLog
  readonly hours?: number
  readonly seed?: number
  readonly settings?: JsonObject
  /** Called once an hour, after the bars of the hour. */
  readonly act?: (hour: number, day: Day) => Promise<void>
  /** Called after every minute. */
  readonly onMinute?: (day: Day) => void | Promise<void>
}

export interface Day {
  readonly engine: Engine
  readonly clock: ReturnType<typeof testClock>
  configuration: Configuration
}

export const DAY_BEGAN_MS = Date.parse('2026-02-20T00:00:00.000Z')

/** Runs the real engine with market, producers and schedule on a simulated market. An hour takes seconds. */
export const simulateDay = async (options: DayOptions = {}) => {
  const { hours = 6, seed = 7, act, onMinute } = options
  const log = options.log ?? new MemoryLog()
  const signer = testSigner()
  const clock = testClock(DAY_BEGAN_MS)
  const trust = { signatures, own: signer, firstHash: null }
  const day: { -readonly [Member in keyof Day]: Day[Member] } = {
    configuration: configurationWith(mergeValues(SETTINGS, options.settings ?? {})),
    clock,
    engine: undefined as unknown as Engine,
  }
  const configuration = (): Configuration => day.configuration
  const failures: unknown[] = []
  const onError = (what: string, error?: unknown): void => {
    failures.push(new Error(what, { cause: error }))
  }
  const engine = await Engine.open({
    log,
    signer,
    clock,
    trust,
    isSigned: (claim) => signatures.isSigned(claim),
    snapshotEveryEvents: 1_000_000,
    configuration,
    version: DAY_VERSION,
    onError,
  })
  day.engine = engine
  await engine.execute({
    kind: 'start',
    started: {
      version: DAY_VERSION,
      node_id: signer.nodeId,
      public_key: signer.publicKey,
      ephemeral: false,
      integrity: { ok: true, reason: null, first_bad_seq: null },
      folding: foldingOf(day.configuration),
      ...configurationRecord(day.configuration, sha256Hex),
    },
  })
  const feed = createSimulatedFeed({
    settings: { ...day.configuration.market, seed, warmup_hours: 60 },
    timer: new RecordedTimer(DAY_BEGAN_MS),
    sha256Hex,
  })
  let beforeMs = DAY_BEGAN_MS
  let isOver = false
  const moveTo = (ms: number): void => clock.advance(Math.max(0, ms - clock.now()))
  const runner = new MarketRunner({
    engine,
    feed: {
      ...feed,
      start: (from, listener) =>
        feed.start(from, {
          ...listener,
          onTick: () => undefined,
          onBars: async (bars) => {
            const closeMs = Math.max(...bars.map(({ close_ts }) => Date.parse(close_ts)))
            if (isOver) return
            moveTo(closeMs)
            await listener.onBars(bars)
            if (bars.every(({ backfill }) => backfill)) return
            moveTo(closeMs + 500)
            await runDueTasks({ engine, configuration }, beforeMs, closeMs)
            await runDueCycle({ engine, configuration }, beforeMs, closeMs, {
              trigger: 'schedule',
              awaited: runner.arrivedBy(closeMs),
            })
            const hour = (closeMs - DAY_BEGAN_MS) / 3_600_000
            if (Number.isInteger(hour)) await act?.(hour, day)
            await onMinute?.(day)
            beforeMs = closeMs
            isOver = hour >= hours
          },
        }),
    },
    producers: BUILT_IN_PRODUCERS,
    producerRunner: new ProducerRunner({ engine, clock, onError }),
    configuration,
    onError,
  })
  await runner.start()
  while (!isOver && failures.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await runner.close()
  await engine.close()
  if (failures.length > 0) throw failures[0]
  return { log, signer, trust, clock, engine, configuration: day.configuration }
}

const OPERATOR = { operator: 'op', surface: 'api' } as const

/** A contributor with an opinion every hour, an operator, and changes of the settings. */
export const busyDay = async (hour: number, day: Day): Promise<void> => {
  const { engine, clock } = day
  const ann = nodeId('ann')
  if (hour === 1) {
    const registration = { nodeId: ann, name: 'Ann', role: 'curator', metadata: {}, publicKey: undefined }
    await engine.execute({ kind: 'register-contributor', registration, surface: 'api', isOperator: true })
  }
  const payload = { symbol: hour % 2 === 0 ? 'BTC' : 'ETH', direction: 'bullish', conviction: 9 }
  await engine.execute({
    kind: 'submit-signal',
    submission: {
      eventType: 'signal.curator.v1',
      nodeId: ann,
      ts: null,
      source: null,
      payload: { ...payload, direction: hour % 3 === 0 ? 'bearish' : 'bullish' },
      dedupeKey: `ann-${hour}`,
    },
  })
  if (hour === 1) await engine.execute({ kind: 'run-learning', cause: { trigger: 'api' } })
  if (hour === 2) {
    const open = [...engine.state.trading.positions.values()].find(({ status }) => status !== 'closed')
    if (open !== undefined)
      await engine.execute({
        kind: 'close-position',
        positionId: open.id,
        by: { ...OPERATOR, note: 'enough' },
      })
    const move = { level: 2, reason: 'looking around', ...OPERATOR } as const
    await engine.execute({ kind: 'set-kill-switch', move })
  }
  if (hour === 3) {
    const move = { level: 0, reason: 'seen enough', ...OPERATOR } as const
    await engine.execute({ kind: 'reset-kill-switch', move })
    const cycleId = clock.newId()
    await engine.execute({ kind: 'run-cycle', cycleId, trigger: 'api' }, { traceId: cycleId })
    await changeSettings(day, { execution: { stop_loss_pct: 0.02 }, weights: { curator: 0.3, events: 0 } })
  }
}

/** Changes the settings as POST /config does. */
const changeSettings = async (day: Day, values: JsonObject): Promise<void> => {
  const changed = validateValues(mergeValues(asValues(day.configuration), values))
  if (changed.status === 'invalid') throw new Error(JSON.stringify(changed.faults))
  day.configuration = changed.configuration
  const change = { changed: Object.keys(values), ...configurationRecord(changed.configuration, sha256Hex) }
  await day.engine.execute({ kind: 'record-config-change', change, surface: 'api' })
}

/** A log rewritten by an insider with the key: changed payloads, with all hashes and signatures recomputed. */
export const rewritten = async (
  log: EventLog,
  signer: Signer,
  change: (record: LogRecord) => JsonObject | null,
  { withCommands = true } = {},
): Promise<EventLog> => {
  const records = await log.read({ order: 'asc', limit: 100_000 })
  const changed = rechained(
    records.map((record) => {
      const payload = change(record)
      return payload === null ? record : { ...record, payload: canonicalJson(payload) }
    }),
  )
  const target = new MemoryLog()
  let batch: LogRecord[] = []
  for (const record of changed) {
    batch.push({ ...record, signature: signer.sign(record.payload) })
    if (record.batchSignature === null) continue
    const end = batch.at(-1) as LogRecord
    const commands = withCommands ? end.commands : null
    const batchSignature = batchSignatureOf(batch.length, signer.sign(batchText(batch, commands, sha256Hex)))
    await target.append([...batch.slice(0, -1), { ...end, batchSignature, commands }], await target.head())
    batch = []
  }
  return target
}
