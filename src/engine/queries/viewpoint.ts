import type { Configuration } from '../../core/config/schema.ts'
import type { AsOfView, PastPoint } from '../../core/shared/as-of.ts'
import type { Clock } from '../../ports/clock.ts'
import type { PastAnswer, PastStates } from '../past-states.ts'
import type { RecordReader } from './trading-records.ts'

/** State and settings that a query reads: the current ones, or those of a past point in the log. */
export interface Viewpoint {
  readonly reader: RecordReader
  readonly clock: Pick<Clock, 'now'>
  readonly configuration: Configuration
  /** Null for the present. */
  readonly asOf: AsOfView | null
}

type PresentReader = RecordReader & { readonly past: PastStates }

type ViewpointAnswer =
  | { readonly status: 'found'; readonly viewpoint: Viewpoint }
  | Exclude<PastAnswer, { readonly status: 'found' }>

/** Past settings are those that the log holds, otherwise the current ones. */
export const viewpointAt = async (
  point: PastPoint | undefined,
  engine: PresentReader,
  { clock, configuration }: Pick<Viewpoint, 'clock' | 'configuration'>,
): Promise<ViewpointAnswer> => {
  if (point === undefined)
    return { status: 'found', viewpoint: { reader: engine, clock, configuration, asOf: null } }
  const answer = await engine.past.at(point, clock.now())
  if (answer.status !== 'found') return answer
  const { state, log, seq, time, now, configuration: recorded } = answer.past
  return {
    status: 'found',
    viewpoint: {
      reader: { log, fresh: () => Promise.resolve(state) },
      clock: { now: () => Date.parse(now) },
      configuration: recorded ?? configuration,
      asOf: { seq, time, configuration: recorded === null ? 'current' : 'recorded' },
    },
  }
}
