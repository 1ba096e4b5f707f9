import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TradingTask, Word } from './kill-orders-process.ts'

/** Some moment after a process has said a word so often. */
export interface KillPoint {
  readonly word: Word
  readonly count: number
  readonly delayMs: number
}

/** A process that trades. It has loaded everything and waits, so that the next one can begin at once. */
export interface Killable {
  /** Lets it trade, kills it at the moment, and tells all that it said. */
  runUntil(moment: KillPoint): Promise<readonly Word[]>
  /** Lets it go on until it ends by itself. */
  runToEnd(): Promise<readonly Word[]>
  /** It is not needed. */
  discard(): Promise<void>
}

export const standBy = (program: string, task: TradingTask): Killable => {
  const child = spawn(process.execPath, [program, JSON.stringify(task)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const words: Word[] = []
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => words.push(line as Word))
  const ended = once(child, 'close').then(() => child.signalCode ?? `exit ${child.exitCode}`)

  const said = async ({ word, count }: KillPoint): Promise<void> => {
    let isGone = false
    const gone = ended.then(() => {
      isGone = true
    })
    while (!isGone && words.filter((one) => one === word).length < count)
      await Promise.race([once(lines, 'line'), gone])
  }
  const go = async (): Promise<void> => {
    await said({ word: 'loaded', count: 1, delayMs: 0 })
    child.stdin.write('go\n')
  }
  const expectEnd = async (end: string): Promise<readonly Word[]> => {
    const ending = await ended
    if (ending !== end) throw new Error(`it ended with ${ending}, after ${words.join(', ')}`)
    return words
  }

  return {
    runUntil: async (moment) => {
      await go()
      await Promise.race([
        said(moment).then(() => sleep(moment.delayMs)),
        said(TRADING).then(() => sleep(LIFE_MS_MAX)),
        sleep(START_MS_MAX),
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

const TRADING: KillPoint = { word: 'trading', count: 1, delayMs: 0 }

/** Some words are never said, when a kill switch or a fault is in the way. */
const LIFE_MS_MAX = 3000
const START_MS_MAX = 6000
