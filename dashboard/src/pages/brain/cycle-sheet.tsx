import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { ExplainedConviction, Explanation } from '../../api/trading.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { Badge, DirectionBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { formatWords } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { QueryContent } from '../../ui/panel.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { ConvictionBar } from './conviction-bar.tsx'
import { actionWord, holdReason, INTENT_TONES, refusalReason, toneOfAction } from './words.ts'

/** One cycle whole: `?cycle=<id>`. From here to the reasons of each symbol. */
export const CycleSheet = () => {
  const [id, setId] = useUrlState('cycle')
  const [why] = useUrlState('why')
  // One sheet at a time: the reasons lie above, and closing them leads back here.
  if (id === '' || why !== '') return null
  return <Sheet id={id} onClose={() => setId('')} />
}

const Sheet = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const query = useQuery(queries.explanation(id))
  return (
    <Dialog title="Cycle" description="What it thought of each symbol." form="sheet" onClose={onClose}>
      <QueryContent query={query} what="the cycle">
        {(explanation) => <Content explanation={explanation} />}
      </QueryContent>
    </Dialog>
  )
}

const Content = ({ explanation }: { readonly explanation: Explanation }) => (
  <div className="grid gap-5">
    <Facts
      facts={[
        ['Time', <Time key="ts" at={explanation.ts} as="full" />],
        ['Run by', explanation.trigger ?? 'not known'],
        ['Regime', explanation.regime ?? 'not judged'],
        [
          'Kill switch',
          explanation.kill_switch_level === null ? '–' : `level ${explanation.kill_switch_level}`,
        ],
        ['Cycle', <Id key="id" id={explanation.cycle_id} />],
      ]}
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
  const reasons =
    intent === null ? (decision.reasons ?? []).map(holdReason) : intent.reasons.map(refusalReason)
  return (
    <li className="grid gap-2 rounded-lg border border-line p-2.5">
      <div className="flex flex-wrap items-center gap-2">
        <strong className="font-semibold">{symbol}</strong>
        <DirectionBadge direction={direction} />
        <Badge tone={toneOfAction(decision.action)}>{actionWord(decision.action)}</Badge>
        {intent === null ? null : (
          <Badge tone={INTENT_TONES[intent.status]}>
            {intent.status === 'rejected' ? 'refused' : formatWords(intent.status)}
          </Badge>
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
