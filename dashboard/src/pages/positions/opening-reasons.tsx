import type { ReactNode } from 'react'
import type { ConvictionInput, ExplainedConviction } from '../../api/types.ts'
import { formatNumber, formatPercent, formatUsd, formatWords } from '../../ui/format.ts'
import { Facts } from '../../ui/id.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { InputsTable } from '../brain/convictions.tsx'

/** The numbers that led to the size of an order. */
export type Sizing = Pick<
  NonNullable<NonNullable<ExplainedConviction['intent']>['sizing']>,
  'bound_by' | 'floor_usd' | 'kelly_usd' | 'evidence_trades' | 'win_chance' | 'payoff'
>

export const sizingText = (sizing: Sizing): string => {
  const { bound_by, floor_usd, kelly_usd, evidence_trades, win_chance, payoff } = sizing
  const learned = `Kelly allows ${formatUsd(kelly_usd)}, the floor ${formatUsd(floor_usd)}`
  const memory = `${formatNumber(evidence_trades, 1)} remembered trades: ${formatPercent(win_chance)} wins, payoff ${formatNumber(payoff, 2)}`
  return `set by ${bound_by.map(formatWords).join(', ')}; ${learned} (${memory})`
}

/** Stop and target as distances from the fill; null for none. */
export const levelsText = (stop: number | null, target: number | null): string =>
  `stop ${stop === null ? 'none' : formatPercent(stop)}, target ${target === null ? 'none' : formatPercent(target)}`

interface OpeningReasonsProps {
  readonly direction: string
  readonly conviction: number
  /** Reason in words, if a strategy or the brain stated one. */
  readonly rationale?: string | undefined
  /** Scores for and against the trade; null for a strategy. */
  readonly scores: Pick<ExplainedConviction, 'pcs_score' | 'cts_score' | 'confidence' | 'coverage'> | null
  /** Requested size as a share of equity. */
  readonly askedFor?: number | undefined
  readonly stopAndTarget?: string | undefined
  readonly sizing: Sizing | null
  /** Limits of the size, each in USD. */
  readonly limits?: Readonly<Record<string, number>>
  /** Null if there are no inputs, as for a strategy. */
  readonly inputs: readonly ConvictionInput[] | null
  /** True if the signals are in the log of this service. */
  readonly hasLinks?: boolean
  readonly children?: ReactNode
}

/** Reasons for opening a position, of the service or of a backtest. */
export const OpeningReasons = (props: OpeningReasonsProps) => {
  const { direction, conviction, rationale, scores, sizing, inputs, limits = {} } = props
  const bounds = Object.entries(limits).map(([name, usd]) => `${formatWords(name)} ${formatUsd(usd)}`)
  return (
    <div className="grid gap-3">
      {rationale === undefined ? null : (
        <p className="text-[13px]">
          <Untrusted lines="all" text={rationale} />
        </p>
      )}
      <Facts
        facts={{
          Conviction: `${direction}, ${formatNumber(conviction, 1)}${scores === null ? '' : ' after the counter-thesis'}`,
          ...(scores === null
            ? {}
            : {
                'For and against': `${formatNumber(scores.pcs_score, 1)} for, ${formatNumber(scores.cts_score, 1)} against`,
                Confidence: formatPercent(scores.confidence, { digits: 0 }),
                Coverage: formatPercent(scores.coverage, { digits: 0 }),
              }),
          'Asked for':
            props.askedFor === undefined
              ? undefined
              : `${formatPercent(props.askedFor)} of equity${props.stopAndTarget === undefined ? '' : `, ${props.stopAndTarget}`}`,
          Size: sizing === null ? undefined : sizingText(sizing),
          Limits: bounds.length === 0 ? undefined : bounds.join(', '),
        }}
      />
      {inputs === null ? null : <InputsTable inputs={inputs} hasLinks={props.hasLinks ?? true} />}
      {props.children}
    </div>
  )
}
