import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSystemClock } from '../../src/adapters/platform/clock/system-clock.ts'
import { TickMonitor } from '../../src/engine/market/tick-monitor.ts'
import type { Signer } from '../../src/ports/signer.ts'
import { interleave, median, medianRatio, type BenchRow } from '../harness.ts'
import { ENTRY_PRICE, holdPositions, minuteOf, symbolAt, SYMBOLS, UNSHAKEN } from './holdings.ts'
import { benchSigner, openBed } from './saturate.ts'

const FEW_LEVELS = 1
const MANY_LEVELS = 10
const MINUTE_MS = 60_000
const WARM_UPS = 3
const TICKS_PER_SECOND = 10 * SYMBOLS

/** Bars and ticks of all symbols while very many positions are open. */
export const benchMonitoring = async (rounds: number): Promise<readonly BenchRow[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-monitoring-'))
  const signer = benchSigner()
  try {
    const few = await openWatch(join(folder, 'few.db'), signer, FEW_LEVELS)
    const many = await openWatch(join(folder, 'many.db'), signer, MANY_LEVELS)
    for (let count = 0; count < WARM_UPS; count += 1) {
      for (const watch of [few, many]) {
        await watch.barsMs()
        await watch.checkMs()
        watch.ticksMs()
      }
    }
    const measured = await interleave(rounds, {
      few: () => few.barsMs(),
      many: () => many.barsMs(),
      check: () => many.checkMs(),
      ticks: () => many.ticksMs(),
    })
    await few.close()
    await many.close()
    const positions = SYMBOLS * MANY_LEVELS
    return [
      {
        id: 'bars',
        what: `a bar of each of ${SYMBOLS} symbols with ${positions} open positions, durable`,
        value: median(measured.many) / 1000,
        target: '< 1',
        baseline: `a second, the shortest bar (${median(measured.many).toFixed(0)} ms)`,
      },
      {
        id: 'positions',
        what: `its time with ${positions} open positions`,
        value: medianRatio(measured.many, measured.few),
        target: `<= ${MANY_LEVELS / FEW_LEVELS}`,
        baseline: `with ${SYMBOLS * FEW_LEVELS} (${median(measured.few).toFixed(0)} ms)`,
      },
      {
        id: 'ticks',
        what: `${TICKS_PER_SECOND} prices that reach nothing, with ${positions} open positions`,
        value: median(measured.ticks) / 1000,
        target: '< 1',
        baseline: `a second, in which they come (${median(measured.ticks).toFixed(1)} ms)`,
      },
      {
        id: 'check',
        what: `the look at all ${positions} open positions that is taken every minute`,
        value: median(measured.check) / MINUTE_MS,
        target: '< 1',
        baseline: `a minute (${median(measured.check).toFixed(1)} ms)`,
      },
    ]
  } finally {
    await signer.close()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Watch {
  barsMs(): Promise<number>
  checkMs(): Promise<number>
  ticksMs(): number
  close(): Promise<void>
}

const openWatch = async (path: string, signer: Signer, levels: number): Promise<Watch> => {
  let nowMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS
  let round = 0
  const clock = createSystemClock(() => nowMs)
  const bed = await openBed(path, signer, { clock, configuration: () => UNSHAKEN })
  const { engine } = bed
  const monitor = new TickMonitor({ engine, onError: fail })
  await holdPositions(engine.log, levels, nowMs)
  await engine.fresh()
  return {
    barsMs: async () => {
      const openMs = nowMs
      nowMs += MINUTE_MS
      round += 1
      const price = ENTRY_PRICE + (round % 2) / 10
      const bars = Array.from({ length: SYMBOLS }, (_, index) => minuteOf(symbolAt(index), price, openMs))
      const beganMs = performance.now()
      await engine.execute({ kind: 'observe-bars', observation: { feed: 'bench', bars } })
      return performance.now() - beganMs
    },
    checkMs: async () => {
      const beganMs = performance.now()
      await engine.execute({ kind: 'check-positions' })
      return performance.now() - beganMs
    },
    ticksMs: () => {
      const beganMs = performance.now()
      for (let index = 0; index < TICKS_PER_SECOND; index += 1) {
        monitor.take({ symbol: symbolAt(index), price: ENTRY_PRICE + (index % 7) / 10, atMs: nowMs })
      }
      return performance.now() - beganMs
    },
    close: async () => {
      if (engine.state.trading.book.count !== SYMBOLS * levels) throw new Error('a position was closed')
      await bed.close()
    },
  }
}

const fail = (what: string, error?: unknown): never => {
  throw new Error(what, { cause: error })
}
