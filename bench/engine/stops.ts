import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { asKnown } from '../../src/core/events/catalogue.ts'
import { TickMonitor } from '../../src/engine/market/tick-monitor.ts'
import { quantile, type BenchRow } from '../harness.ts'
import { ENTRY_PRICE, holdPositions, positionAt, stopAt, symbolAt, SYMBOLS, UNSHAKEN } from './holdings.ts'
import { rawCommits } from './raw-commits.ts'
import { benchSigner, openBed, saturate, type Bed } from './saturate.ts'

const TICKS_PER_SECOND = 10 * SYMBOLS
/** One in this many prices reaches a stop. */
const TICKS_PER_STOP = 100
/** Positions in each symbol, of which a stop ends one. */
const LEVELS = 5
const WARM_UP_SECONDS = 5
const LONE_COMMANDS = 500

/** From a price to a stop order that is durable, while every symbol ticks ten times a second. */
export const benchStops = async (quick: boolean): Promise<readonly BenchRow[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-stops-'))
  const signer = benchSigner()
  try {
    const bed = await openBed(join(folder, 'stops.db'), signer, {
      configuration: () => UNSHAKEN,
      snapshotEveryEvents: UNSHAKEN.store.snapshot_every_events,
    })
    await holdPositions(bed.engine.log, LEVELS, Date.now())
    await bed.engine.fresh()
    await stopDelays(bed, { first: 0, seconds: WARM_UP_SECONDS })
    const seconds = quick ? 5 : 20
    const usedBefore = process.cpuUsage()
    const [{ delaysMs, dueDelaysMs }, rawMs] = await Promise.all([
      stopDelays(bed, { first: stopsIn(WARM_UP_SECONDS), seconds }),
      rawCommits({ path: join(folder, 'raw.db'), everyMs: 1000 / stopsIn(1), forMs: seconds * 1000 }),
    ])
    const used = process.cpuUsage(usedBefore)
    const loneMs = await loneDelays(bed)
    const crashed = bed.engine.state.trading.book.count
    const crashMs = await crash(bed)
    await bed.close()
    return [
      {
        id: 'stop',
        what: `ms from a price to its durable stop order, p99 of ${delaysMs.length} at ${TICKS_PER_SECOND} prices/s`,
        value: quantile(delaysMs, 0.99),
        target: '< 10',
        baseline: `median ${inWords(delaysMs, 0.5)}, worst ${inWords(delaysMs, 1)}; p99 from when the price was due ${inWords(dueDelaysMs, 0.99)}; p99 of an access entry with nothing else to do ${inWords(loneMs, 0.99)}`,
      },
      {
        id: 'disk',
        what: `ms of a plain durable commit of as much, p99 of ${rawMs.length} in the same seconds on the same disk`,
        value: quantile(rawMs, 0.99),
        target: '',
        baseline: `median ${inWords(rawMs, 0.5)}, worst ${inWords(rawMs, 1)}: what the disk takes, whoever asks`,
      },
      {
        id: 'stop-load',
        what: `processor seconds per second of that, all threads, ${stopsIn(1)} stops/s`,
        value: (used.user + used.system) / 1e6 / seconds,
        target: '< 1',
        baseline: 'plain figure of this machine',
      },
      {
        id: 'crash',
        what: `ms until all ${crashed} stops are durable when every one of ${SYMBOLS} symbols falls at once`,
        value: crashMs,
        target: '',
        baseline: 'plain figure of this machine',
      },
    ]
  } finally {
    await signer.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const inWords = (values: readonly number[], share: number): string => quantile(values, share).toFixed(1)

interface Delays {
  readonly delaysMs: readonly number[]
  /** Includes the time that a price waited before the monitor saw it. */
  readonly dueDelaysMs: readonly number[]
}

const stopsIn = (seconds: number): number => (seconds * TICKS_PER_SECOND) / TICKS_PER_STOP

/** Prices at their own pace, whatever becomes of them; `first`: how many stops have been reached before. */
const stopDelays = async (
  { engine }: Bed,
  { first, seconds }: { readonly first: number; readonly seconds: number },
): Promise<Delays> => {
  const monitor = new TickMonitor({ engine, onError: fail })
  const sent = new Map<string, { readonly atMs: number; readonly dueMs: number }>()
  const [delaysMs, dueDelaysMs]: [number[], number[]] = [[], []]
  const unsubscribe = engine.eventBus.subscribe(({ events }) => {
    const nowMs = performance.now()
    for (const event of events) {
      const known = asKnown(event)
      if (known?.type !== 'execution.order_submitted.v1') continue
      const { atMs = Number.NaN, dueMs = Number.NaN } = sent.get(known.payload.position_id) ?? {}
      delaysMs.push(nowMs - atMs)
      dueDelaysMs.push(nowMs - dueMs)
    }
  })
  const beganMs = performance.now()
  const total = seconds * TICKS_PER_SECOND
  for (let next = 0; next < total; await sleep(1)) {
    const elapsedSeconds = (performance.now() - beganMs) / 1000
    const due = Math.min(total, Math.ceil(elapsedSeconds * TICKS_PER_SECOND))
    for (; next < due; next += 1) {
      const stop = next % TICKS_PER_STOP === 0 ? first + next / TICKS_PER_STOP : null
      if (stop !== null) {
        const dueMs = beganMs + (next * 1000) / TICKS_PER_SECOND
        sent.set(positionOf(stop), { atMs: performance.now(), dueMs })
      }
      monitor.take(tickAt(next, stop))
    }
  }
  await monitor.settled()
  unsubscribe()
  if (delaysMs.length !== stopsIn(seconds)) throw new Error(`${delaysMs.length} of ${stopsIn(seconds)} stops`)
  return { delaysMs, dueDelaysMs }
}

/** How long storing takes on this disk, with whatever else the machine has to do. */
const loneDelays = async ({ engine }: Bed): Promise<readonly number[]> => {
  const delaysMs: number[] = []
  for (let count = 0; count < LONE_COMMANDS; count += 1) {
    const beganMs = performance.now()
    await saturate(engine, 1, 1)
    delaysMs.push(performance.now() - beganMs)
    await sleep(5)
  }
  return delaysMs
}

/** The worst minute there is: all that is left of every symbol at once. */
const crash = async ({ engine }: Bed): Promise<number> => {
  const monitor = new TickMonitor({ engine, onError: fail })
  const beganMs = performance.now()
  for (let index = 0; index < SYMBOLS; index += 1) {
    monitor.take({ symbol: symbolAt(index), price: stopAt(LEVELS), atMs: Date.now() })
  }
  await monitor.settled()
  if (engine.state.trading.book.count > 0)
    throw new Error(`${engine.state.trading.book.count} positions are still open`)
  return performance.now() - beganMs
}

/** Stop after stop goes through the symbols, and then through them again one level lower. */
const positionOf = (stop: number): string => positionAt(stop, levelOf(stop))

const levelOf = (stop: number): number => Math.floor(stop / SYMBOLS)

const tickAt = (index: number, stop: number | null) => ({
  symbol: symbolAt(stop ?? index),
  price: stop === null ? ENTRY_PRICE + (index % 7) / 10 : stopAt(levelOf(stop)) - 0.1,
  atMs: Date.now(),
})

const fail = (what: string, error?: unknown): never => {
  throw new Error(what, { cause: error })
}
