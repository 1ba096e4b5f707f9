import { canonicalSymbol } from '../shared/symbol.ts'
import { type CanonicalSymbol, nodeId, type SignalId, type Timestamp } from '../shared/brand.ts'
import { configurationHash } from '../config/secrets.ts'
import type { Configuration } from '../config/schema.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { dayFactsOf } from '../market/readings.ts'
import { contributionsIn } from '../reputation/evolve.ts'
import { authorsWithOpenCall } from '../reputation/overlaps.ts'
import { authorKey } from '../shared/author-key.ts'
import { intervalMsOf } from '../shared/cron.ts'
import { usdNumber } from '../shared/money.ts'
import { msOf } from '../shared/time.ts'
import { accept, type Decision, refuse } from '../shared/decision.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import type { LatestSignal } from '../signals/latest-signals.ts'
import { markReader } from '../signals/prices.ts'
import { isBuiltin } from '../signals/producers.ts'
import { equityOf } from '../trading/risk/account.ts'
import { openPositionsOf } from '../trading/positions/book.ts'
import { liveIntentsOf } from '../trading/orders/intents.ts'
import { isOpenedByBrain } from '../trading/positions/positions.ts'
import { type Author, type AuthorSignals, type Worth, UNPROVEN } from './authors.ts'
import { type CycleInputs, type DecidedIntent, runCycle, watchRegime } from './cycle.ts'
import type { PositionOrIntent } from './decision.ts'
import type { BrainFacts } from './evolve.ts'
import { weightsInForce } from './learning.ts'
import {
  type ContributorOf,
  convictionPayload,
  type CycleContext,
  cyclePayload,
  regimeChangePayload,
  tradeIntentPayload,
} from './payloads.ts'
import { regimeChange, type RegimeChange } from './regime.ts'

export interface CycleRequest {
  readonly cycleId: string
  readonly trigger: CycleContext['trigger']
  /** Time for which the cycle is due. Default: now. It may start slightly later. */
  readonly asOf?: Timestamp
  readonly awaited?: CycleContext['awaited']
}

/** Regime, a conviction per symbol, intents, and the cycle itself last. Cycles on request need kill-switch level 0. */
export const runBrainCycle = (
  facts: BrainFacts,
  { cycleId, trigger, asOf, awaited }: CycleRequest,
  context: DecisionContext,
): Decision => {
  const { now, configuration, newId, sha256Hex, elapsedMs, version } = context
  const { level } = facts.trading.killSwitch
  if (level > 0 && (trigger === 'api' || trigger === 'cli')) {
    return refuse('kill_switch.active', `Kill switch is at level ${level}`, { level })
  }
  const inputs = cycleInputsOf(facts, context, asOf)
  const result = runCycle(inputs, configuration, (conviction) => ({
    symbol: conviction.symbol,
    domains: conviction.domains,
    signalIds: conviction.signalIds,
    id: newId(),
    payload: convictionPayload(conviction, { cycleId, sha256Hex }),
  }))
  const convictionIds = new Map(result.convictions.map(({ symbol, id }) => [symbol, id]))
  const contributorOf = contributorsOfSignals(inputs.authors)
  const equityUsd = usdNumber(equityOf(facts.trading))
  const events: readonly NewEvent[] = [
    ...(result.regimeChange === null ? [] : regimeEvents(result.regimeChange)),
    ...result.convictions.map(({ id, payload }): NewEvent => ({
      type: 'brain.conviction.v1',
      source: 'brain',
      id,
      payload,
    })),
    ...result.intents.map((intent: DecidedIntent): NewEvent => ({
      type: 'execution.trade_intent.v1',
      source: 'brain',
      payload: tradeIntentPayload(
        intent,
        {
          cycleId,
          convictionId: convictionIds.get(intent.symbol) ?? '',
          asOfMs: inputs.asOfMs,
          notionalUsd: equityUsd * intent.sizePct,
          contributorOf,
        },
        configuration,
      ),
    })),
    {
      type: 'brain.cycle.v1',
      source: 'brain',
      // Several processes on one log derive the same id for a scheduled cycle: only the first one is stored.
      ...(trigger === 'schedule' ? { dedupeKey: `cycle:${cycleId}` } : {}),
      payload: cyclePayload(result, {
        cycleId,
        trigger,
        startedAt: now,
        weightsVersion: weightsInForce(facts.brain.learning, configuration).version,
        configHash: context.configHash ?? configurationHash(configuration, sha256Hex),
        engineVersion: version,
        durationMs: elapsedMs(),
        asOf,
        awaited,
      }),
    },
  ]
  return accept(...events.map((event) => ({ ...event, traceId: cycleId })))
}

/** Runs instead of a cycle while the kill switch blocks cycles. */
export const watchBrainRegime = (
  facts: BrainFacts,
  context: DecisionContext,
  asOf: Timestamp | undefined,
): Decision => {
  const inputs = cycleInputsOf(facts, context, asOf)
  const change = regimeChange(inputs.regimeBefore, watchRegime(inputs, context.configuration.brain))
  return accept(...(change === null ? [] : regimeEvents(change)))
}

const regimeEvents = (change: RegimeChange): readonly NewEvent[] => {
  const changed: NewEvent = {
    type: 'brain.regime_change.v1',
    source: 'brain',
    payload: regimeChangePayload(change),
  }
  const { regime, previous } = change
  if (previous === null) return [changed]
  const message = `Regime changed from ${previous} to ${regime}`
  return [
    changed,
    {
      type: 'alert.regime_shift',
      source: 'alerts',
      payload: { urgency: 'standard', message, regime, previous, repeat: 0 },
    },
  ]
}

type AuthorWithLatest = AuthorSignals<LatestSignal>

/** The current inputs of a cycle, as plain data. */
export const cycleInputsOf = (
  facts: BrainFacts,
  context: Pick<DecisionContext, 'now' | 'configuration' | 'prices'>,
  asOf: Timestamp = context.now,
): CycleInputs & { readonly authors: readonly AuthorWithLatest[] } => {
  const { now, configuration } = context
  const markOf = markReader(facts, context)
  return {
    asOfMs: Date.parse(asOf),
    nowMs: msOf(now),
    symbols: configuration.universe.symbols,
    authors: authorsForCycle(facts, configuration, Date.parse(asOf)),
    market: configuration.universe.symbols.map((spelling) => {
      const symbol = canonicalSymbol(spelling)
      const { volume24hUsd, return24hPct } = dayFactsOf(facts.market, symbol)
      return { symbol, volume24hUsd, return24hPct, mark: markOf(symbol)?.price ?? null }
    }),
    regimeBefore: facts.brain.regime?.regime ?? null,
    killSwitchLevel: facts.trading.killSwitch.level,
    weights: weightsInForce(facts.brain.learning, configuration).weights,
    holdings: holdingsOf(facts),
    staleness: facts.brain.staleness,
  }
}

/** Authors with current signals, and their current weights. */
export const authorsForCycle = (
  facts: BrainFacts,
  configuration: Configuration,
  asOfMs: number,
): readonly AuthorWithLatest[] => {
  const openOn = openCallsBySymbol(facts, configuration, asOfMs)
  const worthOf = worthsIn(facts, configuration)
  const ofProducers = new Map<string, LatestSignal[]>()
  const ofContributors = new Map<string, LatestSignal[]>()
  // `forEach`, because an iterator over this large map takes twice as long.
  facts.signals.latest.signals.forEach((signal) => {
    const { authorId, contributorId } = signal
    const byAuthor = contributorId === null ? ofProducers : ofContributors
    const own = byAuthor.get(contributorId ?? authorId)
    if (own === undefined) byAuthor.set(contributorId ?? authorId, [signal])
    else own.push(signal)
  })
  const authors: AuthorWithLatest[] = []
  const add = (signals: readonly LatestSignal[]): void => {
    const [first] = signals as [LatestSignal]
    const author = authorOf(facts, first, worthOf)
    if (author === null) return
    const key = authorKey(first.contributorId, first.authorId)
    authors.push({ author, signals, openOn: openOn.get(key) ?? NOWHERE })
  }
  ofProducers.forEach(add)
  ofContributors.forEach(add)
  return authors
}

const NOWHERE: ReadonlySet<CanonicalSymbol> = new Set()

/** Symbols of the universe with an open latest call, by author. */
const openCallsBySymbol = (
  { reputation }: BrainFacts,
  { universe }: Configuration,
  asOfMs: number,
): ReadonlyMap<string, ReadonlySet<CanonicalSymbol>> => {
  const openOn = new Map<string, Set<CanonicalSymbol>>()
  for (const spelling of universe.symbols) {
    const symbol = canonicalSymbol(spelling)
    for (const author of authorsWithOpenCall(reputation.overlaps, symbol, asOfMs)) {
      const symbols = openOn.get(author) ?? new Set()
      openOn.set(author, symbols.add(symbol))
    }
  }
  return openOn
}

type WorthLookup = (key: string) => Worth

/** With learning off every author counts alike. */
const worthsIn = ({ reputation }: BrainFacts, { karma, learning }: Configuration): WorthLookup => {
  if (!learning.enabled) return () => UNPROVEN
  const contributions = contributionsIn(reputation, karma.influence)
  return (key) => {
    const known = contributions.get(key)
    return known === undefined
      ? UNPROVEN
      : { influence: known.influence, newcomer: known.newcomer, groupId: known.group }
  }
}

/** Null for removed contributors and producers: their history stays, their signals no longer count. */
const authorOf = (
  { signals: { contributors, producers } }: BrainFacts,
  { authorId: id, contributorId }: LatestSignal,
  worthOf: WorthLookup,
): Author | null => {
  const worth = worthOf(authorKey(contributorId, id))
  if (contributorId !== null) {
    const contributor = contributors.byId.get(contributorId)
    if (contributor === undefined || contributor.removed) return null
    return { kind: 'contributor', id, worth }
  }
  const registered = producers.registered.get(id)
  if (registered === undefined && !isBuiltin(id)) return null
  return {
    kind: registered === undefined ? 'builtin' : 'registered',
    id,
    worth,
    intervalMs: registered === undefined ? null : intervalMsOf(registered.schedule),
    quarantined: producers.runs.get(id)?.health === 'quarantined',
  }
}

/** Built on first use: most cycles propose no trade. */
const contributorsOfSignals = (authors: readonly AuthorWithLatest[]): ContributorOf => {
  let byId: Map<SignalId, LatestSignal> | null = null
  return (signalId) => {
    byId ??= new Map(
      authors
        .filter(({ author }) => author.kind === 'contributor')
        .flatMap(({ signals }) => signals.map((signal) => [signal.id, signal])),
    )
    const signal = byId.get(signalId)
    if (signal === undefined || signal.contributorId === null) return null
    return { contributorId: signal.contributorId, nodeId: nodeId(signal.authorId) }
  }
}

/** Open positions, and intents that may still open one. */
const holdingsOf = ({ trading }: BrainFacts): readonly PositionOrIntent[] => [
  ...openPositionsOf(trading).map((position) => ({
    kind: 'position' as const,
    id: position.id,
    isOwn: isOpenedByBrain(position),
    symbol: position.terms.asset,
    side: position.terms.direction,
  })),
  ...liveIntentsOf(trading.intents).map(({ id, intent }) => ({
    kind: 'intent' as const,
    id,
    symbol: canonicalSymbol(intent.symbol),
    side: intent.direction,
  })),
]
