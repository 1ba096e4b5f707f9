import type { Timestamp } from '../shared/brand.ts'
import { z } from 'zod'
import { CATALOGUE } from '../events/catalogue.ts'
import { SIGNAL_TYPES } from '../signal-types/all.ts'
import { categoryOf } from '../log/event.ts'
import type { RegisteredProducer } from '../signals/producers.ts'
import type { State } from '../state.ts'
import { intervalMsOf } from '../shared/cron.ts'
import { healthAt, viewProducers } from './producers.ts'

const jsonSchema = z.record(z.string(), z.unknown())

export const capabilitiesView = z.object({
  tools: z.array(z.object({ name: z.string(), description: z.string() })),
  event_domains: z.array(z.string()),
  producers: z.array(
    z.object({
      producer_id: z.string(),
      signal_types: z.array(
        z.object({
          name: z.string(),
          schema: jsonSchema.meta({ description: 'JSON Schema of the payload' }),
        }),
      ),
      last_seen: z.string().nullable(),
      health: z.enum(['healthy', 'degraded', 'unknown']),
    }),
  ),
})

export type CapabilitiesView = z.infer<typeof capabilitiesView>

export const viewCapabilities = (
  state: Pick<State, 'signals'>,
  storedDomains: Iterable<string>,
  now: Timestamp,
): CapabilitiesView => ({
  tools: [...TOOLS],
  event_domains: [...new Set([...DOCUMENTED, ...[...storedDomains].map(categoryOf)])].sort(),
  producers: viewProducers(state.signals.producers).map(({ name, domain, schedule }) => {
    const trail = state.signals.trails.bySource.get(name)
    const health = healthAt(state.signals.producers.runs.get(name), intervalMsOf(schedule), now)
    return {
      producer_id: name,
      signal_types: typesOf(domain, trail?.types ?? []),
      last_seen: trail?.lastSeen ?? null,
      health: health === 'ok' ? 'healthy' : health === 'unknown' ? 'unknown' : 'degraded',
    }
  }),
})

const DOCUMENTED = ['signal', ...Object.keys(CATALOGUE).map(categoryOf)]

type SignalTypes = CapabilitiesView['producers'][number]['signal_types']

/** The signal types of a domain; for an undocumented domain, those that were stored so far. */
const typesOf = (domain: RegisteredProducer['domain'], seen: readonly string[]): SignalTypes => {
  const documented: readonly string[] = SIGNAL_TYPES.filter((declared) => declared.domain === domain).map(
    ({ type }) => type,
  )
  const names = documented.length > 0 ? documented : seen.toSorted()
  return names.map((name) => ({ name, schema: schemas()[name] ?? ANY_OBJECT }))
}

let known: Readonly<Record<string, Record<string, unknown>>> | null = null

/** Built on first use, because it takes too long for a start. */
const schemas = (): Readonly<Record<string, Record<string, unknown>>> =>
  (known ??= Object.fromEntries(
    SIGNAL_TYPES.map(({ type, payload }) => [type, { ...z.toJSONSchema(payload) }]),
  ))

const ANY_OBJECT = { type: 'object' }

/** The tools that agents can call, in the order in which they are listed. */
const DESCRIPTIONS = {
  get_brain_status:
    'Market regime, level of the kill switch (0 normal, 1 caution, 2 exits only, 3 lockdown) with its reason, and ' +
    'the last brain cycle. Members are null before the first time.',
  get_recent_signals:
    'The newest signals, newest first; of one domain if it is named, such as `ta` or `curator`.',
  get_open_positions: 'All positions that are not closed, newest first.',
  get_signal_attribution:
    'Who is behind a signal, whether a brain cycle used it, which trades it led to, and what came of them.',
  emit_producer_signal:
    'Stores a signal of a registered producer, of a type of its domain, or an opinion (`signal.curator.v1`) of a ' +
    'contributor. With a dedupe key a repeated call stores nothing new. A contributor with a public key signs it.',
  svc_provenance_check:
    'How much this engine has seen of a producer or contributor, since when, and whether the log behind it is ' +
    'unbroken. An unknown producer is a normal answer.',
  explain_decision:
    'Why a brain cycle decided as it did: every input with its author, quality, share, evidence and contribution, ' +
    'how far the next tier was, and which author, domain or regime would have changed the decision.',
  explain_author:
    'How good an author is: its edge with the interval, what of it is its own, its weight now, with whom it moves ' +
    'together, its newest calls and what each added, and whether its stated probabilities hold.',
  get_portfolio:
    'Where the account stands: equity, cash, profit, fees, funding, exposure, heat, margin, peak and drawdown, the ' +
    'loss of the day, and the limits in force.',
  get_orders: 'Orders, newest first, with their state, fills and what bounded their size.',
  get_intents:
    'What the brain wanted to trade, newest first, what became of it and why; with status `awaiting_approval` those ' +
    'that wait for an operator.',
  get_weights:
    'How much each domain counts, whether that was configured or learned, and the learning runs that led there with ' +
    'their reasons.',
  get_treasury: 'What profitable trades owe to contributors, what was settled, and the wallet in force.',
  get_symbols: 'The symbols that are traded, and others with bars, each with its newest bar.',
  get_prices:
    'The price of each symbol that decisions are made on, with its time; null without a recent one.',
  get_bars: 'Stored bars of a symbol (open, high, low, close, volume), newest first, also of a past time.',
  get_alerts:
    'Alerts that need attention and that nobody has acknowledged yet, newest first: stops and targets that were hit, a ' +
    'raised kill switch, trouble with an order or a position at a venue.',
  close_position: 'Closes an open position at the market. For operators, in two steps.',
  close_all_positions:
    'Closes every open position at the market; what has no price stays open and is named. For operators, in two steps.',
  cancel_order:
    'Gives up what is left of an order; at a venue it is asked for, and the order ends when the venue says so. ' +
    'For operators, in two steps.',
  approve_intent: 'Lets an intent that waits for approval be executed at once. For operators, in two steps.',
  deny_intent: 'Ends an intent that waits for approval. For operators, in two steps.',
  set_kill_switch:
    'Raises or lowers the kill switch: 1 caution, 2 exits only, 3 lockdown, 0 normal again. For operators, in two steps.',
  acknowledge_alerts: 'Marks alerts as seen, for everybody who looks at them. For operators, in two steps.',
  run_backtest:
    'Tries a strategy on recorded or simulated prices with paper money, and says honestly whether it found an edge: ' +
    'p-value, trades, return, drawdown. It moves no money. A long run goes on: `wait_seconds` waits for it, get_backtest has its result.',
  get_backtest: 'A backtest that was started before: how far it is, or what it found.',
  run_sweep:
    'Tries a strategy with many parameters and says honestly what is left after the correction for so many trials: false ' +
    'discovery rate and deflated Sharpe ratio, or a test on time that was not looked at. It moves no money. A long sweep ' +
    'goes on: `wait_seconds` waits for it, get_sweep has its result.',
  get_sweep: 'A sweep that was started before: how far it is, or what is left of what it found.',
} as const

export type ToolName = keyof typeof DESCRIPTIONS

export const TOOLS: readonly { readonly name: ToolName; readonly description: string }[] = Object.entries(
  DESCRIPTIONS,
).map(([name, description]) => ({ name: name as ToolName, description }))

/** Tools that reduce risk or carry an operator's decision. They have priority over all others. */
export const URGENT_TOOLS: readonly ToolName[] = [
  'cancel_order',
  'close_all_positions',
  'close_position',
  'set_kill_switch',
]
