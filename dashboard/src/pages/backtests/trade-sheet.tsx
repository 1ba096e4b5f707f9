import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { ConvictionInput } from '../../api/types.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { DirectionBadge, ExitBadge } from '../../ui/badge.tsx'
import { QuerySheet } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/id.tsx'
import { Percent, Pnl, Price, Stat, Usd } from '../../ui/numbers.tsx'
import { Section } from '../../ui/panel.tsx'
import { Time } from '../../ui/time.tsx'
import { levelsText, OpeningReasons, type Sizing } from '../positions/opening-reasons.tsx'
import { listIn, numberIn, objectIn, textIn } from './run.ts'

type Trade = Readonly<Record<string, unknown>>

/** One trade of a backtest, and why it was opened: `?run=<id>&trade=<index>`. */
export const TradeSheet = ({ runId, index }: { readonly runId: string; readonly index: number }) => {
  const query = useQuery(queries.backtest(runId))
  const [, setTrade] = useUrlState('trade')
  const trade = objectIn(listIn(objectIn(query.data?.result), 'closed_trades')[index])
  const symbol = textIn(trade, 'symbol', '')
  return (
    <QuerySheet
      query={query}
      what="the trade"
      title={symbol === '' ? 'Trade' : `${symbol} ${textIn(trade, 'direction', '')}`}
      description="A trade of a backtest, with paper money."
      onClose={() => setTrade('')}
    >
      {() =>
        symbol === '' ? (
          <p className="text-[13px] text-muted">The run has no such trade.</p>
        ) : (
          <Content trade={trade} />
        )
      }
    </QuerySheet>
  )
}

const Content = ({ trade }: { readonly trade: Trade }) => (
  <div className="grid gap-6">
    <div className="grid gap-3">
      <div className="flex flex-wrap gap-1.5">
        <DirectionBadge direction={textIn(trade, 'direction', '')} />
        <ExitBadge reason={textIn(trade, 'exit_reason', '')} />
      </div>
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-4">
        <Stat label="Realized, net">
          <Pnl value={numberIn(trade, 'net_usd')} />
        </Stat>
        <Stat label="Return">
          <Percent value={numberIn(trade, 'net_return')} toned />
        </Stat>
        <Stat label="Worst">
          <Percent value={negative(numberIn(trade, 'max_adverse_excursion'))} />
        </Stat>
        <Stat label="Best">
          <Percent value={numberIn(trade, 'max_favorable_excursion')} />
        </Stat>
      </dl>
    </div>
    <Section title="Why it was opened">
      <Why trade={trade} />
    </Section>
    <Section title="Terms">
      <Facts
        facts={{
          Opened: <Time at={textIn(trade, 'opened_at', '')} as="full" />,
          Closed: <Time at={textIn(trade, 'closed_at', '')} as="full" />,
          Entry: <Price value={numberIn(trade, 'entry_price')} />,
          Exit: <Price value={numberIn(trade, 'exit_price')} />,
          Size: <Usd value={numberIn(trade, 'size_usd')} />,
          Fees: <Usd value={numberIn(trade, 'fees_usd')} />,
          'Regime at entry': textIn(trade, 'regime', ''),
        }}
      />
    </Section>
  </div>
)

const Why = ({ trade }: { readonly trade: Trade }) => {
  const why = trade['why']
  if (typeof why !== 'object' || why === null) {
    return (
      <p className="text-[13px] text-muted">
        A report keeps the reasons of its first thousand trades. The events of a run have those of all: svc
        backtest --events.
      </p>
    )
  }
  const reason = objectIn(why)
  const scores = reason['case']
  const leftOut = numberIn(reason, 'inputs_left_out') ?? 0
  const isBrain = typeof scores === 'object' && scores !== null
  return (
    <OpeningReasons
      direction={textIn(trade, 'direction', '')}
      conviction={numberIn(reason, 'conviction') ?? 0}
      rationale={textIn(reason, 'rationale', '')}
      scores={isBrain ? scoresIn(objectIn(scores)) : null}
      askedFor={numberIn(reason, 'size_pct') ?? undefined}
      stopAndTarget={levelsText(numberIn(reason, 'stop_loss_pct'), numberIn(reason, 'take_profit_pct'))}
      sizing={sizingIn(reason['sizing'])}
      limits={numbersIn(objectIn(reason['limits']))}
      inputs={isBrain ? listIn(reason, 'inputs').map(inputOf) : null}
      hasLinks={false}
    >
      {leftOut === 0 ? null : <p className="text-xs text-muted">and {leftOut} weaker signals</p>}
    </OpeningReasons>
  )
}

const negative = (value: number | null): number | null => (value === null ? null : -value)

const scoresIn = (scores: Trade) => ({
  pcs_score: numberIn(scores, 'pcs_score') ?? 0,
  cts_score: numberIn(scores, 'cts_score') ?? 0,
  confidence: numberIn(scores, 'confidence') ?? 0,
  coverage: numberIn(scores, 'coverage') ?? 0,
})

const sizingIn = (value: unknown): Sizing | null => {
  if (typeof value !== 'object' || value === null) return null
  const sizing = objectIn(value)
  const of = (name: string): number => numberIn(sizing, name) ?? 0
  return {
    bound_by: listIn(sizing, 'bound_by').map(String),
    floor_usd: of('floor_usd'),
    kelly_usd: of('kelly_usd'),
    evidence_trades: of('evidence_trades'),
    win_chance: of('win_chance'),
    payoff: of('payoff'),
  }
}

const numbersIn = (object: Trade): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(object).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  )

/** The place in the list stands for the id: the signals of a run are in no log. */
const inputOf = (value: unknown, index: number): ConvictionInput => {
  const input = objectIn(value)
  const of = (name: string): number => numberIn(input, name) ?? 0
  return {
    signal_id: String(index),
    author: textIn(input, 'author', ''),
    domain: textIn(input, 'domain', ''),
    share: of('share'),
    quality: of('quality'),
    evidence: of('evidence'),
    contribution: of('contribution'),
  }
}
