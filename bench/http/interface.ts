import type { BenchRow } from '../harness.ts'
import { benchReads } from './reads.ts'
import { benchSignalPages } from './signal-pages.ts'
import { benchSubmit } from './submit.ts'

/** Benchmarks of the HTTP interface, except the event stream, which is the group `stream`. */
export const benchInterface = async ({
  rounds = 7,
  events = 1_000_000,
}: {
  readonly rounds?: number
  /** Number of events in the log whose pages are read. */
  readonly events?: number
} = {}): Promise<readonly BenchRow[]> => [
  ...(await benchSubmit(rounds)),
  ...(await benchReads(rounds)),
  ...(await benchSignalPages(events, rounds)),
]
