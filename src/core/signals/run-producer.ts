import type { NewEvent } from '../events/catalogue.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { runEvent, rowFaultOf, type ProducerReport, type Row } from './producer-runs.ts'
import { emitSignal, type CallOf, type Emitter } from './signals.ts'
import type { Producers } from './producers.ts'
import { accept, refuse, type Decision } from '../shared/decision.ts'

/** A producer ran: what it said, and how it went. Rows that may not be said are counted, not lost silently. */
export const runProducer = (
  producers: Producers,
  report: ProducerReport,
  emitter: Emitter,
  { now, newId, configuration }: DecisionContext,
  callOf: CallOf,
): Decision => {
  const { name } = report
  if (emitter.kind !== 'producer')
    return refuse('producer.not_found', `no producer is named ${name}`, { name })
  const skewSecondsMax = configuration.signals.max_future_skew_seconds
  const faults = report.rows.map((row) => rowFaultOf(row, { now, skewSecondsMax }))
  const rows = report.rows.filter((_, index) => faults[index] === null)
  const rejected = [
    ...report.rejected,
    ...faults.flatMap((reason, index) => (reason === null ? [] : [{ index, reason }])),
  ]
  const isNothingLeft = report.end === 'usable' && rows.length === 0 && report.rows.length > 0
  const end = isNothingLeft ? 'unusable' : report.end
  const { quarantine_after, quarantine_seconds } = configuration.producers
  const rules = {
    now,
    quarantineAfter: quarantine_after,
    quarantineSeconds: quarantine_seconds,
  }
  return accept(
    ...rows.flatMap((row) => signalEvents(name, row, emitter, { now, newId, callOf })),
    runEvent(producers, { ...report, rows, rejected, end }, rules),
  )
}

const signalEvents = (
  name: string,
  row: Row,
  emitter: Emitter,
  context: Parameters<typeof emitSignal>[2],
): readonly NewEvent[] => {
  const { type, payload, ts, dedupeKey } = row
  const decision = emitSignal({ producerId: name, type, payload, ts, dedupeKey: null }, emitter, context)
  if (decision.status === 'refused') return []
  const [signal, ...others] = decision.events
  return signal === undefined ? others : [{ ...signal, dedupeKey }, ...others]
}
