import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TradingTask, Progress } from './kill-orders-process.ts'

/** When to kill a process: after it has reported this progress `count` times, plus a delay. */
export interface KillPoint {
  readonly progress: Progress
  readonly count: number
  readonly delayMs: number
}

/** A process that trades. It has loaded everything and waits, so that it can start at once. */
export interface TradingProcess {
  /** Lets it trade, kills it at this point, and returns all that it reported. */
  runUntil(point: KillPoint): Promise<readonly Progress[]>
  /** Lets it run until it ends by itself. */
  runToEnd(): Promise<readonly Progress[]>
  /** Kills it unused. */
  discard(): Promise<void>
}

export const startTradingProcess = (program: string, task: TradingTask): TradingProcess => {
  const child = spawn(process.execPath, [program, JSON.stringify(task)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const progress: Progress[] = []
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => progress.push(line as Progress))
  const ended = once(child, 'close').then(() => child.signalCode ?? `exit ${child.exitCode}`)

  const reported = async ({ progress: wanted, count }: Omit<KillPoint, 'delayMs'>): Promise<void> => {
    let isGone = false
    const gone = ended.then(() => {
      isGone = true
    })
    while (!isGone && progress.filter((one) => one === wanted).length < count)
      await Promise.race([once(lines, 'line'), gone])
  }
  const go = async (): Promise<void> => {
    await reported({ progress: 'loaded', count: 1 })
    child.stdin.write('go\n')
  }
  const expectEnd = async (end: string): Promise<readonly Progress[]> => {
    const ending = await ended
    if (ending !== end) throw new Error(`it ended with ${ending}, after ${progress.join(', ')}`)
    return progress
  }

  return {
    runUntil: async (point) => {
      await go()
      await Promise.race([
        reported(point).then(() => sleep(point.delayMs)),
        reported({ progress: 'trading', count: 1 }).then(() => sleep(TRADING_MS_MAX)),
      ])
      child.kill('SIGKILL')
      return expectEnd('SIGKILL')
    },
    runToEnd: async () => {
      await go()
      return expectEnd('exit 0')
    },
    discard: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Some progress never comes, when the kill switch or a fault prevents it. */
const TRADING_MS_MAX = 3000
