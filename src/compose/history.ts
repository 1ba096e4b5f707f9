import { join } from 'node:path'
import { downloadBars } from '../adapters/feeds/ccxt/download.ts'
import { createBarStore } from '../adapters/history/bar-files/bar-store.ts'
import { importFile } from '../adapters/history/bar-files/import-file.ts'
import { createTableEncoder } from '../adapters/history/bar-files/table-encoder.ts'
import { createSystemTimer } from '../adapters/platform/timer/system-timer.ts'
import type { Clock } from '../ports/clock.ts'
import type { HistoryCommands } from '../surfaces/cli/dependencies.ts'

/** Folder of the recorded bars of a home. */
export const historyFolder = (home: string): string => join(home, 'data')

export const createHistoryCommands = (home: string, clock: Clock): HistoryCommands => {
  const store = createBarStore(historyFolder(home))
  return {
    store,
    importFile: (path, options) => importFile(path, options, { store, nowMs: clock.now() }),
    download: (request) =>
      downloadBars(request, {
        store,
        timer: createSystemTimer(() => clock.now()),
        signal: new AbortController().signal,
      }),
    tableEncoder: createTableEncoder,
  }
}
