import { readLines, WHOLE_FILE, type LineRange } from './lines.ts'
import { rowFormatOf, WANTED_COLUMNS, type FileBar, type RowFormat } from './rows.ts'

/** A part of the file whose rows can be sorted within one window. */
export interface Run extends LineRange {
  readonly minMs: number
  readonly maxMs: number
}

export interface Scan {
  readonly format: RowFormat
  /** Runs, ordered by their earliest time. */
  readonly runs: readonly Run[]
  /** Symbols, in the spelling of the universe. */
  readonly symbols: ReadonlySet<string>
}

/** Distinct times that are held to sort rows. */
const WINDOW_TIMES = 1024

/**
 * Reads the whole file once, in little memory: its columns, its symbols, and its sorted parts. Null when aborted.
 * Throws when the file cannot be replayed.
 */
export const scanFile = async (
  path: string,
  universe: ReadonlyMap<string, string>,
  onFault: (line: number, fault: string) => void,
  signal: AbortSignal,
): Promise<Scan | null> => {
  let format: RowFormat | null = null
  const symbols = new Set<string>()
  const splitter = createRunSplitter()
  for await (const lines of readLines(path, WHOLE_FILE)) {
    if (signal.aborted) return null
    for (const { number, text, startByte } of lines) {
      if (format === null) {
        if (text?.trim() === '') continue
        format = rowFormatOf(text ?? '', universe)
        if (format === null) throw new Error(`${path}: no usable header: expected ${WANTED_COLUMNS}`)
        if (format.hasHeader) continue
      }
      const { openMs, bars, faults } = text === null ? OVERLONG : format.read(text)
      for (const fault of faults) onFault(number, fault)
      if (bars.length === 0) continue
      for (const { symbol } of bars) symbols.add(symbol)
      splitter.add(openMs, startByte, number)
    }
  }
  if (format === null) throw new Error(`${path}: the file is empty, or has no readable line`)
  return { format, symbols, runs: splitter.end() }
}

const OVERLONG = { openMs: 0, bars: [], faults: ['the line is too long'] } as const

interface OpenRun {
  readonly startByte: number
  readonly firstNumber: number
  readonly window: ReorderWindow<null>
  minMs: number
  maxMs: number
}

/** Starts a new run at a row that comes too late for the window. */
const createRunSplitter = () => {
  const runs: Run[] = []
  let open: OpenRun | null = null

  const finish = (run: OpenRun, endByte: number | null): void => {
    const { startByte, firstNumber, minMs, maxMs } = run
    runs.push({ startByte, endByte, firstNumber, minMs, maxMs })
  }

  return {
    add: (ms: number, startByte: number, number: number): void => {
      if (open !== null && !open.window.add(ms, null)) {
        finish(open, startByte)
        open = null
      }
      if (open === null) {
        open = {
          startByte,
          firstNumber: number,
          window: createReorderWindow(WINDOW_TIMES),
          minMs: ms,
          maxMs: ms,
        }
        open.window.add(ms, null)
      }
      open.minMs = Math.min(open.minMs, ms)
      open.maxMs = Math.max(open.maxMs, ms)
      open.window.overflow()
    },
    end: (): readonly Run[] => {
      if (open !== null) finish(open, null)
      return runs.toSorted((first, second) => first.minMs - second.minMs)
    },
  }
}

export interface NumberedBar {
  readonly line: number
  readonly bar: FileBar
}

/** How many runs must be open at the same time to merge them. */
export const overlapOf = (runs: readonly Run[]): number => {
  const edges = runs.flatMap(({ minMs, maxMs }) => [
    { ms: minMs, change: 1 },
    { ms: maxMs, change: -1 },
  ])
  // A run that begins when another ends overlaps with it.
  edges.sort((first, second) => first.ms - second.ms || second.change - first.change)
  let open = 0
  let openMax = 0
  for (const { change } of edges) {
    open += change
    openMax = Math.max(openMax, open)
  }
  return openMax
}

/** The bars of the whole file by time. Merges the runs, each opened when its earliest time is reached. */
export async function* readByTime(
  path: string,
  format: RowFormat,
  runs: readonly Run[],
): AsyncGenerator<TimeGroup<NumberedBar>> {
  const parts = new Map<Groups, TimeGroup<NumberedBar>>()
  const advance = async (part: Groups): Promise<void> => {
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
        await advance(rowsOf(path, format, nextRun))
        continue
      }
      if (parts.size === 0) return
      const due = [...parts].filter(([, { ms }]) => ms === earliestMs)
      yield { ms: earliestMs, items: due.flatMap(([, { items }]) => items) }
      for (const [part] of due) await advance(part)
    }
  } finally {
    for (const part of parts.keys()) await part.return(undefined)
  }
}

type Groups = AsyncGenerator<TimeGroup<NumberedBar>, undefined>

/** The rows of one run by time. Errors were reported when the file was scanned. */
async function* rowsOf(path: string, format: RowFormat, run: Run): Groups {
  const window = createReorderWindow<NumberedBar>(WINDOW_TIMES)
  for await (const lines of readLines(path, run)) {
    for (const { number, text } of lines) {
      if (text === null) continue
      const { openMs, bars } = format.read(text)
      // The row was written after the scan, and is too late for the window.
      for (const bar of bars) window.add(openMs, { line: number, bar })
      const group = window.overflow()
      if (group !== null) yield group
    }
  }
  for (let group = window.next(); group !== null; group = window.next()) yield group
  return undefined
}

/** All items of one time. */
export interface TimeGroup<Item> {
  readonly ms: number
  readonly items: readonly Item[]
}

/** Sorts items by time, holding a bounded number of times. */
export interface ReorderWindow<Item> {
  /** False when a later time was already released. */
  add(ms: number, item: Item): boolean
  /** Releases the earliest time, if the window holds more times than its width. */
  overflow(): TimeGroup<Item> | null
  /** Releases the earliest time, if the window holds any. */
  next(): TimeGroup<Item> | null
}

export const createReorderWindow = <Item>(width: number): ReorderWindow<Item> => {
  const times: number[] = []
  const itemsAt = new Map<number, Item[]>()
  let releasedMs = Number.NEGATIVE_INFINITY

  const next = (): TimeGroup<Item> | null => {
    const ms = times.shift()
    if (ms === undefined) return null
    const items = itemsAt.get(ms) ?? []
    itemsAt.delete(ms)
    releasedMs = ms
    return { ms, items }
  }

  return {
    add: (ms, item) => {
      if (ms <= releasedMs) return false
      const items = itemsAt.get(ms)
      if (items !== undefined) {
        items.push(item)
        return true
      }
      itemsAt.set(ms, [item])
      times.splice(insertionPoint(times, ms), 0, ms)
      return true
    },
    overflow: () => (times.length > width ? next() : null),
    next,
  }
}

/** Searches from the end, because rows are mostly sorted. */
const insertionPoint = (times: readonly number[], ms: number): number => {
  let place = times.length
  while (place > 0 && (times[place - 1] ?? ms) > ms) place -= 1
  return place
}
