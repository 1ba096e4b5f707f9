import type { Configuration } from '../../../core/config/schema.ts'
import { timestampAt } from '../../../core/shared/time.ts'
import type { TradingState } from '../../../core/trading/evolve.ts'
import { unroutedIn, unroutedSentence } from '../../../core/trading/venue/unrouted.ts'
import type { IntegrityReport } from '../../../engine/integrity/report.ts'
import { verifyLog } from '../../../engine/integrity/verify.ts'
import { leaseFaultOf } from '../../../engine/lease-fault.ts'
import { firstSeqFrom } from '../../../engine/queries/first-seq-from.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { settingsOf } from '../configuration.ts'
import type { StoreSession } from '../dependencies.ts'
import { EXIT_FAILED, EXIT_OK, Failure } from '../failure.ts'
import { MISSING_STEPS, missingSentence } from '../missing-store.ts'
import { recordAccess, stateOf } from '../store.ts'
import { bad, fields, good, quiet, type Row } from '../table.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Looks for what a service cannot mend by itself: a log that has lost its end or was changed, a log with times ' +
        'from the future, leader tokens or a lease that no process could have stored, and positions or orders at a venue ' +
        'that gets no orders (another one than execution.venue, or one without its keys), and own strategies or producers that others can change. Says what to do about each. Exit code 1 means that there is something to do.',
    )
    .option(
      '--repair',
      'rebuild indexes, counts and the stored tree from the events, and remove leader tokens and a lease that keep every ' +
        'process from leading; stop the service first',
    )
    .examples('svc doctor', 'svc doctor --json', 'svc doctor --repair')
    .runs(examine)
}

interface Diagnosis {
  readonly check: 'log' | 'clock' | 'lease' | 'venue' | 'own_code'
  readonly ok: boolean
  readonly detail: string
  /** Steps to take, in this order. */
  readonly steps: readonly string[]
}

interface DoctorOptions {
  readonly repair?: true
}

const examine = async (invocation: Invocation, { repair }: DoctorOptions): Promise<Answer> => {
  const service = repair === true ? await invocation.findService() : null
  if (service !== null)
    throw new Failure('store.in_use', `the service of this home is running at ${service.baseUrl}`, {
      advice: 'Stop it first.',
    })
  const configuration = await settingsOf(invocation)
  const missing = await invocation.missingStore()
  await using session = missing === null ? await invocation.openExistingStore() : null
  // A rebuild changes nothing that hashes and signatures cover.
  if (repair === true) await session?.log.derived?.rebuild()
  const stored =
    session === null
      ? missingDiagnoses(invocation.home, missing)
      : await diagnosesOf(session, invocation, { configuration, repairs: repair === true })
  const checks = [...stored, ...ownCodeDiagnoses(await invocation.strategies.openCode())]
  const document = { ok: checks.every(({ ok }) => ok), checks }
  const text = fields([
    [
      'Store',
      session === null && missing === null ? quiet(`nothing is stored in ${invocation.home} yet`) : null,
    ],
    ...checks.flatMap(rowsOf),
  ])
  return { document, text, exitCode: document.ok ? EXIT_OK : EXIT_FAILED }
}

const rowsOf = ({ check, ok, detail, steps }: Diagnosis): readonly Row[] => [
  [NAMES[check], ok ? good(detail) : bad(detail)],
  ...steps.map((step, index): Row => [`Step ${index + 1}`, step]),
]

const NAMES = { log: 'Log', clock: 'Clock', lease: 'Lease', venue: 'Venue', own_code: 'Own code' } as const

/** The diagnosis of a home without a store. It is a fault only if its identity has written one. */
const missingDiagnoses = (home: string, place: string | null): readonly Diagnosis[] =>
  place === null
    ? []
    : [{ check: 'log', ok: false, detail: missingSentence(home, place), steps: MISSING_STEPS }]

const diagnosesOf = async (
  session: StoreSession,
  invocation: Invocation,
  { configuration, repairs }: { readonly configuration: Configuration; readonly repairs: boolean },
): Promise<readonly Diagnosis[]> => {
  const { log, checkpoints, trust } = session
  const { clock } = invocation
  const { kill_switch, execution } = configuration
  const { ok, detail, reason } = await verifyLog(log, {
    mode: 'fast',
    n: RECENT_EVENTS,
    checkpoints,
    trust,
    clock,
  })
  const found = [
    { check: 'log', ok, detail, steps: ok ? [] : stepsAfter(reason) } as const,
    await clockDiagnosis(log, clock.now(), kill_switch.l1_clock_jump_seconds),
  ]
  // A log that does not verify proves neither its leaders nor its positions.
  if (!ok) return found
  const { trading } = await stateOf(log, trust)
  const leases = await leaseDiagnoses(session, invocation, { recorded: trading.leaderToken, repairs })
  return [...found, ...leases, ...venueDiagnoses(trading, execution)]
}

const leaseDiagnoses = async (
  session: StoreSession,
  invocation: Invocation,
  { recorded, repairs }: { readonly recorded: number; readonly repairs: boolean },
): Promise<readonly Diagnosis[]> => {
  const { lease } = session
  if (lease === null) return []
  const fault = leaseFaultOf(await lease.stored(), recorded)
  if (fault === null)
    return [{ check: 'lease', ok: true, detail: 'any process may lead after the present one', steps: [] }]
  if (!repairs) return [{ check: 'lease', ok: false, detail: fault, steps: LEASE_STEPS }]
  // The engine is opened first, so that no repair is made that cannot be recorded.
  const engine = await session.openEngine()
  await lease.reset(recorded)
  await recordAccess(engine, invocation, 'doctor')
  return [{ check: 'lease', ok: true, detail: `repaired: ${fault}`, steps: [] }]
}

/** Diagnoses of the venue, if there was one. */
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

/** Only where others can change what the service runs. */
const ownCodeDiagnoses = (warning: string | null): readonly Diagnosis[] =>
  warning === null ? [] : [{ check: 'own_code', ok: false, detail: warning, steps: [OWN_CODE_STEP] }]

const OWN_CODE_STEP =
  'Read the strategies and producers of this home before you run them again: others may have changed them.'

const RECENT_EVENTS = 100

const LEASE_STEPS = [
  'Stop the service, then run "svc doctor --repair": it removes the leaders that the log does not know and ends the lease',
  'Find out what else can write the database, and take its access away',
] as const

const REPAIR_STEPS = [
  'Stop the service and keep a copy of all files in data/',
  'svc doctor --repair',
  'Run "svc integrity": two events with one id or dedupe key cannot be repaired, restore a copy then',
] as const

const RESTORE_STEPS = [
  'Stop the service and keep a copy of all files in data/',
  'Put the missing files back, above all events.db-wal, or restore a newer copy',
  'If they are gone: svc integrity --accept-loss --reason "<why>"',
  'Compare positions and orders with the venue, then lower the kill switch',
] as const

const stepsAfter = (reason: IntegrityReport['reason']): readonly string[] => {
  if (reason === 'truncated') return RESTORE_STEPS
  return reason === 'projections' ? REPAIR_STEPS : ['Run "svc integrity" to see the first bad event']
}

/** Checks for times in the future. A clock that was ahead leaves such times in the log, where they stay. */
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
