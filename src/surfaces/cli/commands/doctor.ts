import type { Configuration } from '../../../core/config/schema.ts'
import { timestampAt } from '../../../core/shared/time.ts'
import type { TradingState } from '../../../core/trading/evolve.ts'
import { unroutedIn, unroutedSentence } from '../../../core/trading/unrouted.ts'
import { verifyLog } from '../../../engine/integrity/verify.ts'
import { firstSeqFrom } from '../../../engine/queries/first-seq-from.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { settingsOf } from '../configuration.ts'
import type { StoreSession } from '../dependencies.ts'
import { EXIT_FAILED, EXIT_OK } from '../failure.ts'
import { stateOf } from '../store.ts'
import { bad, fields, good, quiet, type Row } from '../table.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Looks for what a service cannot mend by itself: a log that has lost its end or was changed, a log with times ' +
        'from the future, and positions or orders at a venue that gets no orders (another one than execution.venue, or one without its keys). Says what to do about each. Exit code 1 means that there is something to do.',
    )
    .examples('svc doctor', 'svc doctor --json')
    .runs(examine)
}

interface Diagnosis {
  readonly check: 'log' | 'clock' | 'venue'
  readonly ok: boolean
  readonly detail: string
  /** What to do, in this order. */
  readonly steps: readonly string[]
}

const examine = async (invocation: Invocation): Promise<Answer> => {
  await using session = await invocation.openExistingStore()
  const configuration = await settingsOf(invocation)
  const checks = session === null ? [] : await diagnosesOf(session, invocation, configuration)
  const document = { ok: checks.every(({ ok }) => ok), checks }
  const text = fields([
    ['Store', session === null ? quiet(`nothing is stored in ${invocation.home} yet`) : null],
    ...checks.flatMap(rowsOf),
  ])
  return { document, text, exitCode: document.ok ? EXIT_OK : EXIT_FAILED }
}

const rowsOf = ({ check, ok, detail, steps }: Diagnosis): readonly Row[] => [
  [NAMES[check], ok ? good(detail) : bad(detail)],
  ...steps.map((step, index): Row => [`Step ${index + 1}`, step]),
]

const NAMES = { log: 'Log', clock: 'Clock', venue: 'Venue' } as const

const diagnosesOf = async (
  { log, checkpoints, trust }: StoreSession,
  { clock }: Invocation,
  { kill_switch, execution }: Configuration,
): Promise<readonly Diagnosis[]> => {
  const { ok, detail, reason } = await verifyLog(log, {
    mode: 'fast',
    n: RECENT_EVENTS,
    checkpoints,
    trust,
    clock,
  })
  const steps = reason === 'truncated' ? RESTORE_STEPS : ['Run "svc integrity" to see the first bad event']
  return [
    { check: 'log', ok, detail, steps: ok ? [] : steps },
    await clockDiagnosis(log, clock.now(), kill_switch.l1_clock_jump_seconds),
    // A log that is not what it was says nothing of positions.
    ...(ok ? venueDiagnoses((await stateOf(log, trust)).trading, execution) : []),
  ]
}

/** Only where there was a venue. */
const venueDiagnoses = (
  trading: TradingState,
  execution: Configuration['execution'],
): readonly Diagnosis[] => {
  if (trading.venue.checked === null) return []
  const unrouted = unroutedIn(trading, execution)
  return [
    {
      check: 'venue',
      ok: unrouted.length === 0,
      detail:
        unrouted.length === 0
          ? 'nothing is open at a venue that gets no orders'
          : `open at a venue that gets no orders: ${unrouted.length}; no exits or stops are sent there`,
      steps: unrouted.map((one) => unroutedSentence(one, execution)),
    },
  ]
}

const RECENT_EVENTS = 100

const RESTORE_STEPS = [
  'Stop the service and keep a copy of all files in data/',
  'Put the missing files back, above all events.db-wal, or restore a newer copy',
  'If they are gone: svc integrity --accept-loss --reason "<why>"',
  'Compare positions and orders with the venue, then lower the kill switch',
] as const

/** A clock that was ahead has left times behind that the log cannot take back. */
const clockDiagnosis = async (log: EventLog, nowMs: number, limitSeconds: number): Promise<Diagnosis> => {
  const { seq: last, recordedAt } = await log.head()
  const aheadMs = Date.parse(recordedAt) - nowMs
  if (!(aheadMs > limitSeconds * 1000))
    return { check: 'clock', ok: true, detail: 'no event is from the future', steps: [] }
  const first = await firstSeqFrom(log, timestampAt(nowMs + limitSeconds * 1000))
  return {
    check: 'clock',
    ok: false,
    detail:
      `events ${first} to ${last} were recorded at up to ${recordedAt}, ${Math.round(aheadMs / 1000)} s from now: ` +
      'the clock of the machine was ahead then, or is behind now',
    steps: [
      'Set the clock of the machine (date -u) and keep it right, for example with NTP; then restart the service',
      `If the clock is right: trading goes on by it, and recorded_at stays at ${recordedAt} until then`,
      'Positions that were opened meanwhile have no time exit until then: svc positions, svc positions close',
      'Lower the kill switch: svc kill-switch reset --level 0 --reason "the clock is right"',
      `For a log without these times: stop the service, restore a copy that ends before event ${first}, and run svc ` +
        'integrity --accept-loss --reason "a clock was ahead"; then start it and lower the kill switch',
    ],
  }
}
