import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { interleave, median, medianRatio, type BenchRow } from '../harness.ts'
import { minutesOf } from './minutes.ts'

const SVC = join(process.cwd(), 'bin', 'svc.js')
const SERIES = 'bench:BTC-USDT:1m'

/**
 * `svc sweep` as users run it, by the clock on the wall: two processes against one, on Parquet files, with the start of
 * all processes. On fewer than two free cores it says nothing.
 */
export const benchSweep = async (rounds: number, quick: boolean): Promise<BenchRow> => {
  const [bars, sets] = quick ? [40_000, 8] : [200_000, 16]
  const home = mkdtempSync(join(tmpdir(), 'signal-engine-sweep-'))
  try {
    await storeMinutes(home, bars)
    const sweep = (workers: number): Promise<number> =>
      runsPerSecond(home, { sets, workers: String(workers) })
    const { one, two } = await interleave(rounds, { one: () => sweep(1), two: () => sweep(2) })
    return {
      id: 'sweep',
      what: `svc sweep per core, ${sets} runs of ${bars} bars with two processes (${median(two).toFixed(2)} runs/s)`,
      value: medianRatio(two, one) / 2,
      target: '>= 0.85',
      baseline: `one process (${median(one).toFixed(2)} runs/s)`,
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

const storeMinutes = async (home: string, count: number): Promise<void> => {
  const file = join(home, 'minutes.csv')
  const written = createWriteStream(file)
  for (const [bar] of minutesOf(['BTC'], count)) {
    if (bar === undefined) continue
    const { open_ts, open, high, low, close, volume } = bar
    if (!written.write(`${Date.parse(open_ts)},${open},${high},${low},${close},${volume}\n`))
      await once(written, 'drain')
  }
  written.end()
  await finished(written)
  await svc(home, [
    'data',
    'import',
    file,
    '--exchange',
    'bench',
    '--symbol',
    'BTC/USDT',
    '--timeframe',
    '1m',
  ])
}

const runsPerSecond = async (
  home: string,
  { sets, workers }: { readonly sets: number; readonly workers: string },
): Promise<number> => {
  const start = performance.now()
  const values = ['--set', `fast=2..${sets + 1}`, '--set', 'slow=50']
  const words = ['--data', SERIES, '--reset-daily', '--workers', workers, '--fresh', '--json']
  const printed = await svc(home, ['sweep', 'ma_crossover', ...values, ...words])
  const { runs, reused_runs: reused } = JSON.parse(printed) as { runs: number; reused_runs: number }
  if (runs !== sets || reused !== 0)
    throw new Error(`a sweep of ${sets} runs made ${runs}, of which ${reused} were old`)
  return (runs * 1000) / (performance.now() - start)
}

/** What it printed; it fails where the command does. */
const svc = async (home: string, words: readonly string[]): Promise<string> => {
  const child = spawn(process.execPath, [SVC, '--home', home, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  const [status] = (await once(child, 'close')) as [number | null]
  if (status !== 0) throw new Error(`svc ${words.join(' ')} ended with ${status}: ${printed}`)
  return printed
}
