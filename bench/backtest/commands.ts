import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { minutesOf } from './minutes.ts'

/* Whole commands of the build, as users run them. */

const SVC = join(process.cwd(), 'bin', 'svc.js')

/** The series that `storeMinutes` stores. */
export const SERIES = 'bench:BTC-USDT:1m'

export const storeMinutes = async (home: string, count: number): Promise<void> => {
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
  await measuredSvc(home, [
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

/** Processor time of all ended child processes and their children, as Linux counts it. */
const childrenMs = (): number | null => {
  try {
    const [user, system] = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ').slice(13) ?? []
    return (Number(user) + Number(system)) * TICK_MS
  } catch {
    return null
  }
}

const TICK_MS = 10

export interface Measured {
  readonly printed: string
  readonly clockMs: number
  /** Processor time of the command and its processes. Null on systems that do not count it. */
  readonly processorMs: number | null
  /** Sum of the peaks of the command and its processes. Null as above. */
  readonly memoryMb: number | null
}

/** Runs `svc`. Fails if the command fails. */
export const measuredSvc = async (
  home: string,
  words: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<Measured> => {
  const [startMs, usedMs] = [performance.now(), childrenMs()]
  const child = spawn(process.execPath, [SVC, '--home', home, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...variables },
  })
  const peaks = new Map<number, number>()
  const timer = setInterval(() => notePeaks(child.pid ?? 0, peaks), LOOK_MS)
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  const [status] = (await once(child, 'close')) as [number | null]
  clearInterval(timer)
  if (status !== 0) throw new Error(`svc ${words.join(' ')} ended with ${status}: ${printed}`)
  const nowMs = childrenMs()
  const memoryMb = [...peaks.values()].reduce((sum, peak) => sum + peak, 0)
  return {
    printed,
    clockMs: performance.now() - startMs,
    processorMs: usedMs === null || nowMs === null ? null : nowMs - usedMs,
    memoryMb: memoryMb === 0 ? null : memoryMb,
  }
}

const LOOK_MS = 50

/** Notes the highest memory so far of a process and its children. */
const notePeaks = (pid: number, peaks: Map<number, number>): void => {
  try {
    const [, peak] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    if (peak !== undefined) peaks.set(pid, Number(peak) / 1024)
    for (const child of readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' '))
      if (child !== '') notePeaks(Number(child), peaks)
  } catch {
    // The process has ended, or this is not Linux.
  }
}
