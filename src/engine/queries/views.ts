import { nodeId } from '../../core/shared/brand.ts'
import { findPosition, type Reader, type RecordReader } from './trading-records.ts'
import type { Configuration } from '../../core/config/schema.ts'
import type { Command } from '../../core/decide.ts'
import type { LogRecord } from '../../core/log/event.ts'
import { run, type RunResult } from '../../core/run.ts'
import { trailOf } from '../../core/signals/trails.ts'
import { accountStatusOf } from '../../core/trading/risk/account.ts'
import { viewCapabilities, type CapabilitiesView } from '../../core/views/capabilities.ts'
import { viewEquityHistory, type EquityHistoryView } from '../../core/views/portfolio.ts'
import { viewWeights, type WeightsView } from '../../core/views/learning.ts'
import { viewPortfolio, type PortfolioView } from '../../core/views/portfolio.ts'
import { viewPosition, viewPositions, type PositionView } from '../../core/views/positions.ts'
import { unknownProvenance, viewProvenance, type ProvenanceView } from '../../core/views/reputation.ts'
import type { Clock } from '../../ports/clock.ts'
import { isoNow } from '../iso-now.ts'
import { sha256Hex } from '../sha256.ts'
import { HOUR_MS } from '../../core/shared/time.ts'

export const POSITIONS_MAX = 500

/** Open positions, newest first. */
export const openPositions = async (reader: RecordReader): Promise<readonly PositionView[]> =>
  viewPositions((await reader.fresh()).trading.positions, { status: 'open', limit: POSITIONS_MAX })

/** An open or closed position; null if no position has this id. */
export const positionOf = async (reader: RecordReader, id: string): Promise<PositionView | null> => {
  const position = await findPosition(reader, id)
  return position === null ? null : viewPosition(position)
}

export const portfolioOf = async (
  reader: Pick<RecordReader, 'fresh'>,
  configuration: Configuration,
  clock: Pick<Clock, 'now'>,
): Promise<PortfolioView> => viewPortfolio(await reader.fresh(), configuration, isoNow(clock))

const POINTS = 240

/** Equity over time. The range is limited to the time of the log. */
export const equityHistoryOf = async (
  reader: RecordReader,
  hours: number,
  clock: Pick<Clock, 'now'>,
  points = POINTS,
): Promise<EquityHistoryView> => {
  const state = await reader.fresh()
  const nowMs = clock.now()
  const [first] = await reader.log.read({ order: 'asc', limit: 1 })
  const beganMs = first === undefined ? nowMs : Date.parse(first.recordedAt)
  return viewEquityHistory({
    nowMs,
    sinceMs: Math.min(nowMs, Math.max(nowMs - hours * HOUR_MS, beganMs)),
    points,
    equity: accountStatusOf(state.trading, isoNow(clock)).equity,
    curve: state.trading.risk.curve,
  })
}

/** Current weights and the latest learning runs. */
export const weightsOf = async (
  reader: RecordReader,
  configuration: Configuration,
  { clock, limit }: { readonly clock: Pick<Clock, 'now'>; readonly limit: number },
): Promise<WeightsView> => {
  const { brain } = await reader.fresh()
  const runs = await reader.log.read({ types: ['learning.weight_adjustment'], order: 'desc', limit })
  return viewWeights(brain.learning, configuration, { nowMs: clock.now(), runs })
}

export const capabilitiesOf = async (reader: Reader, clock: Clock): Promise<CapabilitiesView> => {
  const [state, domains] = await Promise.all([reader.fresh(), reader.log.countByDomain()])
  return viewCapabilities(state, domains.keys(), isoNow(clock))
}

export interface ProvenanceSources {
  readonly engine: Reader
  readonly clock: Clock
  /** Whether the newest events verify; see `integrity/recent-check.ts`. */
  readonly recentChainOk: () => Promise<boolean>
}

/** The public record of an author. */
export const provenanceOf = async (
  { engine, clock, recentChainOk }: ProvenanceSources,
  producerId: string,
): Promise<ProvenanceView> => {
  const state = await engine.fresh()
  if (trailOf(state.signals.trails, producerId) === null) return unknownProvenance(producerId)
  const chainOk = await recentChainOk()
  return viewProvenance(state, producerId, { chainOk, now: isoNow(clock) })
}

export interface SignalQuery {
  /** Second segment of the type, matched exactly. Empty or null means all. */
  readonly domain: string | null
  readonly limit: number
  readonly offset: number
}

/**
 * Signals, newest `ts` first, then newest seq; `total` counts matching signals on all pages. Reads the log, so signals
 * of other processes are included.
 */
export const signalItems = async (
  { log }: Pick<Reader, 'log'>,
  { domain, limit, offset }: SignalQuery,
): Promise<{ readonly records: readonly LogRecord[]; readonly total: number }> => {
  const hasDomain = domain !== null && domain !== ''
  // A domain is one segment of the type and contains no dot.
  if (hasDomain && domain.includes('.')) return { records: [], total: 0 }
  const wanted = hasDomain ? `signal.${domain}` : null
  const [records, total] = await Promise.all([
    log.readByTime({ domain: wanted, limit, offset }),
    log.count(wanted ?? 'signal'),
  ])
  return { records, total }
}

export interface RehearsalDependencies {
  readonly clock: Clock
  readonly configuration: Configuration
  readonly version: string
}

const REHEARSAL_NODE = nodeId('rehearsal')

/** Runs a command on the current state without storing anything. */
export const rehearse = async (
  reader: Pick<Reader, 'fresh'>,
  command: Command,
  { clock, configuration, version }: RehearsalDependencies,
): Promise<RunResult> =>
  run(await reader.fresh(), command, {
    now: isoNow(clock),
    newId: () => clock.newId(),
    traceId: null,
    configuration,
    version,
    sha256Hex,
    // The events are discarded, so no signature is needed.
    nodeId: REHEARSAL_NODE,
    sign: () => '',
    isSigned: () => false,
    elapsedMs: () => 0,
  })
