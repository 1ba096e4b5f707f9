import type { TerminalStream } from './output.ts'

/** How far long work has come. */
export interface Progress {
  readonly update: (done: number, total: number) => void
  /** Takes the bar away again: what remains on the screen is the result. */
  readonly end: () => void
}

const BAR_WIDTH = 24

/** A bar on the error stream, for people only: a file or a pipe gets nothing. */
export const progressOn = (stream: TerminalStream, label: string): Progress => {
  if (stream.isTTY !== true) return SILENT
  let drawn = ''
  const draw = (line: string): void => {
    // Redrawn only when it looks different, so that the bar costs nothing however often it is told.
    if (line === drawn) return
    drawn = line
    stream.write(`\r${line}${ERASE_TO_END}`)
  }
  return {
    update: (done, total) => draw(barOf(label, done, total)),
    end: () => draw(''),
  }
}

const SILENT: Progress = { update: () => undefined, end: () => undefined }

const ERASE_TO_END = '\u001b[K'

const barOf = (label: string, done: number, total: number): string => {
  const share = total <= 0 ? 1 : Math.min(1, Math.max(0, done / total))
  const filled = Math.floor(share * BAR_WIDTH)
  return `${label} [${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${Math.floor(share * 100)}%`
}
