import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { ExplainedConviction, Explanation } from '../../api/trading.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { Badge, DirectionBadge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { formatNumber, formatPercent, formatWords } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { QueryContent } from '../../ui/panel.tsx'
import { Time } from '../../ui/time.tsx'
import { ConvictionBar } from './conviction-bar.tsx'
import { DomainBars } from './domain-bars.tsx'
import { InputsTable } from './inputs-table.tsx'
import { Section } from '../../ui/section.tsx'
import { Evidence } from './signed-bar.tsx'
import { WhatIfs } from './what-ifs.tsx'
import { actionWord, holdReason, INTENT_TONES, refusalReason, toneOfAction } from './words.ts'

/** Why one symbol was judged as it was: `?why=<id of the conviction>`. */
export const WhySheet = () => {
  const [id, setId] = useUrlState('why')
  if (id === '') return null
  return <Sheet id={id} onClose={() => setId('')} />
}

const Sheet = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const query = useQuery(queries.explanation(id))
  const conviction = query.data?.convictions.find(({ conviction_id }) => conviction_id === id)
  return (
    <Dialog
      title={conviction === undefined ? 'Why?' : `Why ${conviction.symbol}?`}
      description="Everything the decision was made of, as the log keeps it."
      form="sheet"
      onClose={onClose}
    >
      <QueryContent query={query} what="the reasons">
        {(explanation) =>
          conviction === undefined ? null : <Reasons explanation={explanation} conviction={conviction} />
        }
      </QueryContent>
    </Dialog>
  )
}

interface ReasonsProps {
  readonly explanation: Explanation
  readonly conviction: ExplainedConviction
}

const Reasons = ({ explanation, conviction }: ReasonsProps) => (
  <div className="grid gap-5">
    <Verdict conviction={conviction} />
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
          ? 'The configuration has changed since: this follows the one of today'
          : 'One thing different, all else equal'
      }
    >
      <WhatIfs whatIfs={conviction.what_if} />
    </Section>
    <Section title="Scores">
      <Facts
        facts={[
          ['Primary case', `${formatNumber(conviction.pcs_score)} of 100`],
          ['Counter thesis', `${formatNumber(conviction.cts_score)} of 100`],
          ['Final', `${formatNumber(conviction.final_score)} of 100 (50 = neutral)`],
          ['Confidence', formatPercent(conviction.confidence, { digits: 0 })],
          ['Coverage', `${formatPercent(conviction.coverage, { digits: 0 })} of all weight had signals`],
          ['Regime', explanation.regime ?? 'not judged'],
          [
            'Kill switch',
            explanation.kill_switch_level === null ? '–' : `level ${explanation.kill_switch_level}`,
          ],
          ['Judged', <Time key="ts" at={explanation.ts} as="full" />],
          ['Cycle', <Id key="cycle" id={explanation.cycle_id} />],
          ['Conviction', <Id key="conviction" id={conviction.conviction_id} />],
        ]}
      />
    </Section>
  </div>
)

const Verdict = ({ conviction }: { readonly conviction: ExplainedConviction }) => {
  const { decision, direction, effective_conviction, value, next_tier, intent } = conviction
  return (
    <div className="grid gap-3 rounded-lg bg-raised/60 p-3">
      <div className="flex flex-wrap items-center gap-2">
        <DirectionBadge direction={direction} />
        <span aria-hidden className="text-muted">
          →
        </span>
        <Badge tone={toneOfAction(decision.action)}>{actionWord(decision.action)}</Badge>
        {intent === null ? null : (
          <Badge tone={INTENT_TONES[intent.status]}>intent {formatWords(intent.status)}</Badge>
        )}
      </div>
      <ConvictionBar value={effective_conviction} direction={direction} />
      <ul className="grid list-disc gap-1 pl-4 text-[13px]">
        {(decision.reasons ?? []).map((reason) => (
          <li key={reason}>{holdReason(reason)}</li>
        ))}
        {intent?.reasons.map((reason) => (
          <li key={reason}>intent refused: {refusalReason(reason)}</li>
        ))}
        {intent === null ? null : <li>asks for {formatPercent(intent.size_pct)} of equity</li>}
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
    ? `step ${tier} is out of reach in this regime`
    : `step ${tier} needs ${formatNumber(value_needed, 3)}, ${formatNumber(value_missing, 3)} more`
