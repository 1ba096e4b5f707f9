import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { environmentOf } from '../../src/compose/environment.ts'
import { createHistoryCommands } from '../../src/compose/history.ts'
import { programOf } from '../program.fixture.ts'

export const VERSION = '1.2.3'

/** Homes with bars, and workers in processes of their own, until they are ended. */
export const createWorkers = () => {
  const homes: string[] = []
  const workers: ChildProcess[] = []
  const emptyHome = async (): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-worker-'))
    homes.push(folder)
    return folder
  }
  return {
    emptyHome,
    newHome: async (priceAtEnd = 100): Promise<string> => {
      const folder = await emptyHome()
      const { store } = createHistoryCommands(folder, environmentOf(folder, {}, VERSION).clock)
      const bars = Array.from({ length: 20 * 24 }, (_, hour) => {
        const price = hour === 20 * 24 - 1 ? priceAtEnd : 100 + 10 * Math.sin(hour / 20)
        return {
          openMs: Date.UTC(2024, 0, 1, hour),
          open: price,
          high: price + 0.5,
          low: price - 0.5,
          close: price,
          volume: 10,
        }
      })
      await store.merge({ venue: 'binance', symbol: 'BTC-USDT', seconds: 3600 }, bars, { replaces: false })
      return folder
    },
    startWorker: async (folder: string, url: string, version = VERSION) => {
      const said: string[] = []
      const child = fork(programOf('postgres/worker-process'), [folder, url, version])
      workers.push(child)
      child.on('message', (message) => said.push(JSON.stringify(message)))
      await expect.poll(() => said).toContain('"working"')
      return { child, said }
    },
    endWorkers: async (): Promise<void> => {
      for (const worker of workers.splice(0)) {
        if (worker.exitCode !== null || worker.signalCode !== null) continue
        worker.kill('SIGKILL')
        await once(worker, 'exit')
      }
    },
    removeHomes: async (): Promise<void> => {
      for (const folder of homes.splice(0)) await rm(folder, { recursive: true, force: true })
    },
  }
}
