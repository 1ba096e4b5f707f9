import type { FileBar } from './file-bar.ts'
import { readLines } from './lines.ts'
import { createReorderWindow, type TimeGroup } from './reorder-window.ts'
import type { RowFormat } from './rows.ts'
import { WINDOW_TIMES, type Run } from './scan.ts'

export interface PlacedBar {
  readonly line: number
  readonly bar: FileBar
}

/** How many parts of the file have to be open at the same time to bring it into order. */
export const overlapOf = (runs: readonly Run[]): number => {
  const edges = runs.flatMap(({ minMs, maxMs }) => [
    { ms: minMs, change: 1 },
    { ms: maxMs, change: -1 },
  ])
  // At one moment parts begin before others end: both are open then.
  edges.sort((first, second) => first.ms - second.ms || second.change - first.change)
  let open = 0
  let openMax = 0
  for (const { change } of edges) {
    open += change
    openMax = Math.max(openMax, open)
  }
  return openMax
}

/** The bars of the whole file by time. `runs` come by their earliest time; each is opened when that is reached. */
export async function* inOrder(
  path: string,
  format: RowFormat,
  runs: readonly Run[],
): AsyncGenerator<TimeGroup<PlacedBar>> {
  const parts = new Map<Groups, TimeGroup<PlacedBar>>()
  const moveOn = async (part: Groups): Promise<void> => {
    const { value } = await part.next()
    if (value === undefined) parts.delete(part)
    else parts.set(part, value)
  }
  let opened = 0
  try {
    for (;;) {
      const earliestMs = Math.min(...[...parts.values()].map(({ ms }) => ms))
      const nextRun = runs[opened]
      if (nextRun !== undefined && nextRun.minMs <= earliestMs) {
        opened += 1
        await moveOn(rowsOf(path, format, nextRun))
        continue
      }
      if (parts.size === 0) return
      const due = [...parts].filter(([, { ms }]) => ms === earliestMs)
      yield { ms: earliestMs, items: due.flatMap(([, { items }]) => items) }
      for (const [part] of due) await moveOn(part)
    }
  } finally {
    for (const part of parts.keys()) await part.return(undefined)
  }
}

type Groups = AsyncGenerator<TimeGroup<PlacedBar>, undefined>

/** The rows of one part by time. Faults were told when the file was scanned. */
async function* rowsOf(path: string, format: RowFormat, run: Run): Groups {
  const window = createReorderWindow<PlacedBar>(WINDOW_TIMES)
  for await (const lines of readLines(path, run)) {
    for (const { number, text } of lines) {
      if (text === null) continue
      const { openMs, bars } = format.read(text)
      // What is too late for the window was written after the scan.
      for (const bar of bars) window.add(openMs, { line: number, bar })
      const group = window.overflow()
      if (group !== null) yield group
    }
  }
  for (let group = window.next(); group !== null; group = window.next()) yield group
  return undefined
}
