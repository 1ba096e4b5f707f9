import type { BenchRow } from '../harness.ts'
import { benchReads } from './reads.ts'
import { benchSignalPages } from './signal-pages.ts'
import { benchSubmit } from './submit.ts'

/** What a client of the HTTP interface gets; what it hears of the event stream is the group `stream`. */
export const benchInterface = async ({
  rounds = 7,
  events = 1_000_000,
}: {
  readonly rounds?: number
  /** Of the log whose pages are read. */
  readonly events?: number
} = {}): Promise<readonly BenchRow[]> => [
  ...(await benchSubmit(rounds)),
  ...(await benchReads(rounds)),
  ...(await benchSignalPages(events, rounds)),
]
