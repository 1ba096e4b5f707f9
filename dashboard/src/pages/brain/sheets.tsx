import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queries } from '../../api/queries.ts'
import type { ExplainedConviction, Explanation } from '../../api/types.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { Badge, DirectionBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { QuerySheet } from '../../ui/dialog.tsx'
import { formatNumber, formatPercent, formatUsd, formatWords } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { Section } from '../../ui/panel.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { sizingText } from '../positions/opening-reasons.tsx'
import { ConvictionBar, Evidence, InputsTable, SignedBar } from './convictions.tsx'
import { actionText, DOMAINS, holdText, INTENT_TONES, rejectionText, toneOfAction } from './labels.ts'

/** Reasons for the brain's decision on one symbol: `?why=<conviction id>`. */
export const WhySheet = () => {
  const [id, setId] = useUrlState('why')
  if (id === '') return null
  return <WhyDialog id={id} onClose={() => setId('')} />
}

const WhyDialog = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const query = useQuery(queries.explanation(id))
  const conviction = query.data?.convictions.find(({ conviction_id }) => conviction_id === id)
  return (
    <QuerySheet
      query={query}
      what="the reasons"
      title={conviction === undefined ? 'Why?' : `Why ${conviction.symbol}?`}
      description="All inputs of the decision, from the log."
      onClose={onClose}
    >
      {(explanation) =>
        conviction === undefined ? null : <Reasons explanation={explanation} conviction={conviction} />
      }
    </QuerySheet>
  )
}

interface ReasonsProps {
  readonly explanation: Explanation
  readonly conviction: ExplainedConviction
}

const Reasons = ({ explanation, conviction }: ReasonsProps) => (
  <div className="grid gap-5">
    <DecisionSummary conviction={conviction} />
    <Section title="Domains" hint="What each adds to the evidence, by its weight">
      <DomainBars domains={conviction.domains} value={conviction.value} />
    </Section>
    <Section title="Signals behind it" hint="Strongest first">
      <InputsTable inputs={conviction.inputs} />
    </Section>
    <Section
      title="What would have changed it"
      hint={
        explanation.rules_changed
          ? 'The configuration has changed since; this uses the current one'
          : 'One change, all else equal'
      }
    >
      <WhatIfs whatIfs={conviction.what_if} />
    </Section>
    <Section title="Scores">
      <Facts
        facts={{
          'Primary case': `${formatNumber(conviction.pcs_score)} of 100`,
          'Counter thesis': `${formatNumber(conviction.cts_score)} of 100`,
          Final: `${formatNumber(conviction.final_score)} of 100 (50 = neutral)`,
          Confidence: formatPercent(conviction.confidence, { digits: 0 }),
          Coverage: `${formatPercent(conviction.coverage, { digits: 0 })} of all weight had signals`,
          Regime: explanation.regime ?? 'unknown',
          'Kill switch':
            explanation.kill_switch_level === null ? '–' : `level ${explanation.kill_switch_level}`,
          Time: <Time at={explanation.ts} as="full" />,
          Cycle: <Id id={explanation.cycle_id} />,
          Conviction: <Id id={conviction.conviction_id} />,
        }}
      />
    </Section>
  </div>
)

type Sizing = NonNullable<NonNullable<ExplainedConviction['intent']>['sizing']>

const sizeText = (sizing: Sizing): string =>
  `${sizing.size_usd === null ? 'no order' : `size ${formatUsd(sizing.size_usd)}`}, ${sizingText(sizing)}`

const DecisionSummary = ({ conviction }: { readonly conviction: ExplainedConviction }) => {
  const { decision, direction, effective_conviction, value, next_tier, intent } = conviction
  const sizing = intent?.sizing ?? null
  return (
    <div className="grid gap-3 rounded-lg bg-raised/60 p-3">
      <div className="flex flex-wrap items-center gap-2">
        <DirectionBadge direction={direction} />
        <span aria-hidden className="text-muted">
          →
        </span>
        <Badge tone={toneOfAction(decision.action)}>{actionText(decision.action)}</Badge>
        {intent === null ? null : (
          <Badge tone={INTENT_TONES[intent.status]}>intent {formatWords(intent.status)}</Badge>
        )}
      </div>
      <ConvictionBar value={effective_conviction} direction={direction} />
      <ul className="grid list-disc gap-1 pl-4 text-[13px]">
        {(decision.reasons ?? []).map((reason) => (
          <li key={reason}>{holdText(reason)}</li>
        ))}
        {intent?.reasons.map((reason) => (
          <li key={reason}>
            intent {formatWords(intent.status)}: {rejectionText(reason)}
          </li>
        ))}
        {intent === null ? null : <li>asks for {formatPercent(intent.size_pct)} of equity</li>}
        {sizing === null ? null : <li>{sizeText(sizing)}</li>}
        <li>
          all evidence adds up to <Evidence value={value} />
          {next_tier === null ? '' : `; ${distanceText(next_tier)}`}
        </li>
      </ul>
    </div>
  )
}

const distanceText = ({
  tier,
  value_needed,
  value_missing,
}: NonNullable<ExplainedConviction['next_tier']>): string =>
  value_needed === null || value_missing === null
    ? `tier ${tier} is out of reach in this regime`
    : `tier ${tier} needs ${formatNumber(value_needed, 3)}, ${formatNumber(value_missing, 3)} more`

interface DomainBarsProps {
  readonly domains: ExplainedConviction['domains']
  /** Sum of all contributions. */
  readonly value: number
}

const DomainBars = ({ domains, value }: DomainBarsProps) => {
  const strongest = Math.max(0.001, ...domains.map(({ contribution }) => Math.abs(contribution)))
  const missing = DOMAINS.filter((name) => !domains.some(({ domain }) => domain === name))
  return (
    <div className="grid gap-2 text-[13px]">
      <ul className="grid gap-1.5">
        {domains.map(({ domain, weight, contribution }) => (
          <li key={domain} className="grid grid-cols-[5.5rem_3.5rem_1fr_4.5rem] items-center gap-2">
            <span className="truncate">{domain}</span>
            <span className="text-right text-xs text-muted" title="Weight among the domains with signals">
              {formatPercent(weight, { digits: 0 })}
            </span>
            <SignedBar value={contribution} full={strongest} />
            <span className="text-right">
              <Evidence value={contribution} />
            </span>
          </li>
        ))}
        <li className="grid grid-cols-[5.5rem_3.5rem_1fr_4.5rem] items-center gap-2 border-t border-line pt-1.5 font-semibold">
          <span>total</span>
          <span />
          <span />
          <span className="text-right">
            <Evidence value={value} />
          </span>
        </li>
      </ul>
      {missing.length === 0 ? null : (
        <p className="text-xs text-muted">
          Without usable signals: {missing.join(', ')}. Their weight goes to the others.
        </p>
      )}
    </div>
  )
}

type WhatIf = ExplainedConviction['what_if'][number]

const CHANGES: Readonly<Record<WhatIf['change'], string>> = {
  without_author: 'without',
  without_domain: 'without domain',
  other_regime: 'in regime',
}

const FEW = 5

/** What-ifs that change the decision. The others are shown on demand. */
const WhatIfs = ({ whatIfs }: { readonly whatIfs: readonly WhatIf[] }) => {
  const [isAll, setAll] = useState(false)
  const deciding = whatIfs.filter(({ changes_decision }) => changes_decision)
  const others = whatIfs.filter(({ changes_decision }) => !changes_decision)
  const shown = isAll ? [...deciding, ...others] : deciding.slice(0, FEW)
  return (
    <div className="grid gap-2 text-[13px]">
      {deciding.length === 0 ? (
        <p>No single author, domain or regime would have changed the decision.</p>
      ) : null}
      <ul className="grid">
        {shown.map((whatIf) => (
          <WhatIfRow key={`${whatIf.change} ${whatIf.subject}`} whatIf={whatIf} />
        ))}
      </ul>
      {whatIfs.length > deciding.slice(0, FEW).length ? (
        <Button size="small" className="justify-self-start" onClick={() => setAll(!isAll)}>
          {isAll ? 'Show fewer' : `Show all ${whatIfs.length}`}
        </Button>
      ) : null}
    </div>
  )
}

const WhatIfRow = ({ whatIf }: { readonly whatIf: WhatIf }) => (
  <li className="flex items-center justify-between gap-3 border-b border-line py-1.5 last:border-0">
    <span className="flex min-w-0 items-baseline gap-1.5">
      <span className="text-muted whitespace-nowrap">{CHANGES[whatIf.change]}</span>
      <Untrusted lines={1} text={whatIf.subject} />
    </span>
    <span className="flex items-center gap-2 whitespace-nowrap">
      <span className="text-muted">conviction {formatNumber(whatIf.effective_conviction, 1)}</span>
      <Badge tone={toneOfAction(whatIf.action)}>{actionText(whatIf.action)}</Badge>
    </span>
  </li>
)

/** One cycle: `?cycle=<id>`. */
export const CycleSheet = () => {
  const [id, setId] = useUrlState('cycle')
  const [why] = useUrlState('why')
  // One sheet at a time: closing the explanation returns to this sheet.
  if (id === '' || why !== '') return null
  return <CycleDialog id={id} onClose={() => setId('')} />
}

const CycleDialog = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const query = useQuery(queries.explanation(id))
  return (
    <QuerySheet
      query={query}
      what="the cycle"
      title="Cycle"
      description="Decisions per symbol."
      onClose={onClose}
    >
      {(explanation) => <Content explanation={explanation} />}
    </QuerySheet>
  )
}

const Content = ({ explanation }: { readonly explanation: Explanation }) => (
  <div className="grid gap-5">
    <Facts
      facts={{
        Time: <Time at={explanation.ts} as="full" />,
        'Run by': explanation.trigger ?? 'not known',
        Regime: explanation.regime ?? 'unknown',
        'Kill switch':
          explanation.kill_switch_level === null ? '–' : `level ${explanation.kill_switch_level}`,
        Cycle: <Id id={explanation.cycle_id} />,
      }}
    />
    {explanation.warnings.length === 0 ? null : (
      <Section title="Warnings">
        <ul className="grid gap-1 text-[13px] text-warn">
          {explanation.warnings.map((warning) => (
            <li key={warning}>
              <Untrusted text={warning} />
            </li>
          ))}
        </ul>
      </Section>
    )}
    <Section title="Symbols">
      <ul className="grid gap-2">
        {explanation.convictions.map((conviction) => (
          <SymbolRow key={conviction.conviction_id} conviction={conviction} />
        ))}
      </ul>
    </Section>
  </div>
)

const SymbolRow = ({ conviction }: { readonly conviction: ExplainedConviction }) => {
  const [, openWhy] = useUrlState('why')
  const { symbol, direction, decision, intent, effective_conviction } = conviction
  const reasons = intent === null ? (decision.reasons ?? []).map(holdText) : intent.reasons.map(rejectionText)
  return (
    <li className="grid gap-2 rounded-lg border border-line p-2.5">
      <div className="flex flex-wrap items-center gap-2">
        <strong className="font-semibold">{symbol}</strong>
        <DirectionBadge direction={direction} />
        <Badge tone={toneOfAction(decision.action)}>{actionText(decision.action)}</Badge>
        {intent === null ? null : (
          <Badge tone={INTENT_TONES[intent.status]}>{formatWords(intent.status)}</Badge>
        )}
        <Button
          size="small"
          className="ml-auto"
          aria-label={`Why ${symbol}?`}
          onClick={() => openWhy(conviction.conviction_id)}
        >
          Why?
        </Button>
      </div>
      <ConvictionBar value={effective_conviction} direction={direction} />
      {reasons.length === 0 ? null : <p className="text-xs text-muted">{reasons.join('; ')}</p>}
    </li>
  )
}
