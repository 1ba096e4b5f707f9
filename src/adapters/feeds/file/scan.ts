import { readLines, WHOLE_FILE, type LineRange } from './lines.ts'
import { createReorderWindow, type ReorderWindow } from './reorder-window.ts'
import { rowFormatOf, type RowFormat } from './rows.ts'
import { WANTED_COLUMNS } from './layout.ts'
import type { Complaints } from './complaints.ts'

/** A part of the file whose rows can be brought into order with a window. */
export interface Run extends LineRange {
  readonly minMs: number
  readonly maxMs: number
}

export interface Scan {
  readonly format: RowFormat
  /** By their earliest time. */
  readonly runs: readonly Run[]
  /** As the universe spells them. */
  readonly symbols: ReadonlySet<string>
}

/** Distinct times that are held to bring rows into order. */
export const WINDOW_TIMES = 1024

/**
 * Reads the whole file once, holding next to nothing of it: what its columns mean, whose bars it has, and in which
 * parts it is in order. Null when aborted; throws when it cannot be replayed.
 */
export const scanFile = async (
  path: string,
  universe: ReadonlyMap<string, string>,
  complaints: Complaints,
  signal: AbortSignal,
): Promise<Scan | null> => {
  let format: RowFormat | null = null
  const symbols = new Set<string>()
  const sorter = createRunSorter()
  for await (const lines of readLines(path, WHOLE_FILE)) {
    if (signal.aborted) return null
    for (const { number, text, startByte } of lines) {
      if (format === null) {
        if (text?.trim() === '') continue
        format = rowFormatOf(text ?? '', universe)
        if (format === null) throw new Error(`${path}: no usable header; wanted ${WANTED_COLUMNS}`)
        if (format.hasHeader) continue
      }
      const { openMs, bars, faults } = text === null ? OVERLONG : format.read(text)
      for (const fault of faults) complaints.add(number, fault)
      if (bars.length === 0) continue
      for (const { symbol } of bars) symbols.add(symbol)
      sorter.add(openMs, startByte, number)
    }
  }
  complaints.end()
  if (format === null) throw new Error(`${path}: empty, or without a line that could be read`)
  return { format, symbols, runs: sorter.end() }
}

const OVERLONG = { openMs: 0, bars: [], faults: ['longer than any row'] } as const

interface OpenRun {
  readonly startByte: number
  readonly firstNumber: number
  readonly window: ReorderWindow<null>
  minMs: number
  maxMs: number
}

/** Cuts the file where a row comes too late for the window. */
const createRunSorter = () => {
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
