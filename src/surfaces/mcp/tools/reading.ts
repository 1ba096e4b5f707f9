import { z } from 'zod'
import { asOfView, pastPoint, type PastPoint } from '../../../core/shared/as-of.ts'
import { timestamp } from '../../../core/shared/time.ts'
import { alertsView, viewAlerts } from '../../../core/views/alerts.ts'
import { brainStatusView, explanationView, viewBrainStatus } from '../../../core/views/brain.ts'
import { contributionView } from '../../../core/views/contribution.ts'
import { barView, marketSymbolView, priceView, viewPrices, viewSymbols } from '../../../core/views/market.ts'
import { weightsView } from '../../../core/views/learning.ts'
import {
  INTENT_FILTERS,
  intentView,
  ORDER_FILTERS,
  orderView,
  viewIntents,
  viewOrders,
} from '../../../core/views/orders.ts'
import { portfolioView } from '../../../core/views/portfolio.ts'
import { positionView } from '../../../core/views/positions.ts'
import { provenanceView } from '../../../core/views/reputation.ts'
import { attributionView, signalItemView, viewSignalItem } from '../../../core/views/signals.ts'
import { treasuryView, viewTreasury } from '../../../core/views/treasury.ts'
import { attributionOf } from '../../../engine/queries/attribution.ts'
import { contributionOf, namedAuthor } from '../../../engine/queries/authors.ts'
import { storedBars } from '../../../engine/queries/bars.ts'
import { explain } from '../../../engine/queries/explanation.ts'
import { viewpointAt, type Viewpoint } from '../../../engine/queries/viewpoint.ts'
import {
  openPositions,
  portfolioOf,
  provenanceOf,
  signalItems,
  weightsOf,
} from '../../../engine/queries/views.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { LIMITS_NOTE } from '../tool-result.ts'
import { failed, found, itemsOf, orError, tool, type McpDependencies, type ToolOutcome } from '../tool.ts'

const ITEMS_MAX = 100

/** A larger limit is not refused but reduced. */
const itemLimit = (fallback = 20, what = 'how many') =>
  z
    .int()
    .min(1)
    .default(fallback)
    .meta({ description: `${what}; more than ${ITEMS_MAX} counts as ${ITEMS_MAX}` })
    .transform((limit) => Math.min(limit, ITEMS_MAX))

/** An argument of every tool that can answer about the past. */
const asOfInput = {
  as_of: pastPoint().optional().meta({
    type: 'string',
    maxLength: 64,
    description: 'the number of an event, or a date and time: the answer is the one of then',
  }),
}

/** A member of every such answer that is an object. */
const asOfMember = { as_of_point: asOfView.optional() }

const orAsOfError = (output: z.ZodType) => orError(output, ['as_of_out_of_range', 'as_of_busy'])

export const readingTools = {
  get_brain_status: tool('read', {
    title: 'Brain status',
    input: z.object(asOfInput),
    output: orAsOfError(brainStatusView.extend(asOfMember)),
    call: ({ input, dependencies }) =>
      foundAsOf(input, dependencies, async ({ reader }) => viewBrainStatus(await reader.fresh())),
  }),
  get_recent_signals: tool('read', {
    title: 'Recent signals',
    advice: LIMITS_NOTE,
    input: z.object({
      limit: itemLimit(),
      domain: z
        .string()
        .max(256)
        .optional()
        .meta({ description: 'second segment of the type, such as `ta` or `signal.ta`; empty = all' }),
    }),
    output: itemsOf(signalItemView),
    call: async ({ input: { limit, domain: given = '' }, dependencies: { engine } }) => {
      const domain = given.replace(/^signal\./, '')
      const { records } = await signalItems(engine, { domain, limit, offset: 0 })
      return found(records.map(viewSignalItem))
    },
  }),
  get_open_positions: tool('read', {
    title: 'Open positions',
    input: z.object(asOfInput),
    output: orAsOfError(itemsOf(positionView)),
    call: ({ input, dependencies }) => foundAsOf(input, dependencies, ({ reader }) => openPositions(reader)),
  }),
  get_signal_attribution: tool('read', {
    title: 'Attribution of a signal',
    advice: LIMITS_NOTE,
    input: z.object({ signal_id: z.string().meta({ description: 'id of a stored signal' }) }),
    output: orError(attributionView, ['signal_not_found']),
    call: async ({ input: { signal_id }, dependencies: { engine } }) => {
      const attribution = await attributionOf(engine, signal_id)
      return attribution === null ? failed('signal_not_found', { signal_id }) : found(attribution)
    },
  }),
  svc_provenance_check: tool('read', {
    title: 'Provenance of a producer',
    input: z.object({
      producer_id: z.string().meta({ description: 'node_id of a contributor, or the source of signals' }),
      signal_type: z.string().optional().meta({ description: 'has no effect yet' }),
    }),
    output: provenanceView,
    call: async ({ input: { producer_id }, dependencies }) =>
      found(await provenanceOf(dependencies, producer_id)),
  }),
  explain_decision: tool('read', {
    title: 'Explain a decision',
    advice: LIMITS_NOTE,
    input: z.object({
      id: z
        .string()
        .optional()
        .meta({ description: 'id of a cycle or of a conviction; the last cycle if absent' }),
      symbol: z.string().optional().meta({ description: 'only this symbol of the cycle' }),
    }),
    output: orError(explanationView, ['decision_not_found']),
    call: async ({ input, dependencies: { engine, configuration } }) => {
      const id = input.id ?? (await engine.fresh()).brain.lastCycle?.id ?? ''
      const explanation = await explain(engine, { id, symbol: input.symbol ?? null }, configuration())
      return explanation === null ? failed('decision_not_found', { id }) : found(explanation)
    },
  }),
  explain_author: tool('read', {
    title: 'Explain an author',
    advice: LIMITS_NOTE,
    input: z.object({
      author: z.string().meta({ description: 'node_id or id of a contributor, or the name of a producer' }),
    }),
    output: orError(contributionView, ['author_not_found']),
    call: async ({ input: { author }, dependencies: { engine, configuration, clock } }) => {
      const state = await engine.fresh()
      const named = await namedAuthor(engine.log, state, author)
      if (named === null) return failed('author_not_found', { author })
      const context = { now: isoNow(clock), rules: configuration().karma }
      return found(await contributionOf(engine.log, state, named, context))
    },
  }),
  get_portfolio: tool('read', {
    title: 'Portfolio',
    input: z.object(asOfInput),
    output: orAsOfError(portfolioView.extend(asOfMember)),
    call: ({ input, dependencies }) =>
      foundAsOf(input, dependencies, ({ reader, configuration, clock }) =>
        portfolioOf(reader, configuration, clock),
      ),
  }),
  get_orders: tool('read', {
    title: 'Orders',
    input: z.object({
      status: z.enum(ORDER_FILTERS).default('all').meta({ description: 'only those with this status' }),
      limit: itemLimit(),
    }),
    output: itemsOf(orderView),
    call: async ({ input, dependencies: { engine } }) =>
      found(viewOrders((await engine.fresh()).trading.orders, input)),
  }),
  get_intents: tool('read', {
    title: 'Intents',
    advice: LIMITS_NOTE,
    input: z.object({
      status: z.enum(INTENT_FILTERS).default('all').meta({ description: 'only those with this status' }),
      limit: itemLimit(),
    }),
    output: itemsOf(intentView),
    call: async ({ input, dependencies: { engine } }) =>
      found(viewIntents((await engine.fresh()).trading.intents, input)),
  }),
  get_weights: tool('read', {
    title: 'Weights',
    advice: LIMITS_NOTE,
    input: z.object({ limit: itemLimit(5, 'how many runs'), ...asOfInput }),
    output: orAsOfError(weightsView.extend(asOfMember)),
    call: ({ input, dependencies }) =>
      foundAsOf(input, dependencies, ({ reader, configuration, clock }) =>
        weightsOf(reader, configuration, { clock, limit: input.limit }),
      ),
  }),
  get_symbols: tool('read', {
    title: 'Symbols',
    input: z.object({}),
    output: itemsOf(marketSymbolView),
    call: async ({ dependencies: { engine, configuration } }) =>
      found(viewSymbols(await engine.fresh(), configuration())),
  }),
  get_prices: tool('read', {
    title: 'Prices',
    input: z.object({}),
    output: itemsOf(priceView),
    call: async ({ dependencies: { engine, configuration, clock } }) =>
      found(viewPrices(await engine.fresh(), configuration(), clock.now())),
  }),
  get_bars: tool('read', {
    title: 'Bars',
    advice: LIMITS_NOTE,
    input: z.object({
      symbol: z.string().min(1).max(64).meta({ description: 'such as BTC' }),
      from: timestamp().optional().meta({ description: 'only bars that open at this time or later' }),
      to: timestamp().optional().meta({ description: 'only bars that open before this time' }),
      limit: itemLimit(),
    }),
    output: orError(itemsOf(barView), ['symbol_not_found']),
    call: async ({ input, dependencies: { engine } }) => {
      const bars = await storedBars(engine, input)
      return bars === null ? failed('symbol_not_found', { symbol: input.symbol }) : found(bars)
    },
  }),
  get_alerts: tool('read', {
    title: 'Open alerts',
    advice: LIMITS_NOTE,
    input: z.object({}),
    output: alertsView,
    call: async ({ dependencies: { engine } }) => found(viewAlerts((await engine.fresh()).operations.alerts)),
  }),
  get_treasury: tool('read', {
    title: 'Treasury',
    input: z.object({}),
    output: treasuryView,
    call: async ({ dependencies: { engine, configuration } }) =>
      found(viewTreasury((await engine.fresh()).treasury, configuration().karma)),
  }),
}

/** Answers from the present, or from the log as it was. */
const foundAsOf = async (
  { as_of: point }: { readonly as_of?: PastPoint | undefined },
  { engine, configuration, clock }: McpDependencies,
  view: (viewpoint: Viewpoint) => Promise<object>,
): Promise<ToolOutcome> => {
  const answer = await viewpointAt(point, engine, { clock, configuration: configuration() })
  if (answer.status === 'busy') return failed('as_of_busy', {})
  if (answer.status === 'out-of-range') return failed('as_of_out_of_range', { detail: answer.detail })
  const { asOf } = answer.viewpoint
  const body = await view(answer.viewpoint)
  return found(asOf === null || Array.isArray(body) ? body : { ...body, as_of_point: asOf })
}
