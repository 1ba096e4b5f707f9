import type { ExplanationView } from '../../core/views/brain.ts'
import type { Paint } from './style.ts'
import { fields, good, quiet, table, warning, type Cell } from './table.ts'

type Explained = ExplanationView['convictions'][number]

/** A cycle, and for each symbol what went in, what came out, and what would have changed it. */
export const explanationText = (explanation: ExplanationView, paint: Paint): string =>
  [
    fields(
      [
        ['Cycle', explanation.cycle_id],
        ['Ran at', explanation.ts],
        ['Regime', explanation.regime ?? quiet('unknown')],
        ...(explanation.rules_changed
          ? [['Note', warning('settings changed since: "what if" follows those of today')] as const]
          : []),
      ],
      paint,
    ),
    ...explanation.convictions.map((conviction) => convictionText(conviction, paint)),
  ].join('\n')

const convictionText = (conviction: Explained, paint: Paint): string => {
  const { inputs, what_if } = conviction
  const decisive = what_if.filter(({ changes_decision }) => changes_decision)
  return [
    fields(summaryOf(conviction), paint),
    ...(inputs.length === 0 ? [] : [table(INPUT_COLUMNS, inputs.map(inputRow), paint)]),
    ...(decisive.length === 0 ? [] : [table(WHAT_IF_COLUMNS, decisive.map(whatIfRow), paint)]),
  ].join('\n')
}

const summaryOf = (conviction: Explained): readonly (readonly [string, Cell])[] => {
  const { symbol, decision, direction, effective_conviction, confidence, next_tier, intent } = conviction
  return [
    ['Symbol', symbol],
    ['Decision', actionCell(decision.action)],
    [
      'Because',
      decision.reasons.length === 0 ? quiet('nothing spoke against it') : decision.reasons.join(', '),
    ],
    [
      'Direction',
      `${direction}, conviction ${effective_conviction.toFixed(1)}, confidence ${confidence.toFixed(2)}`,
    ],
    ...(next_tier === null ? [] : [['Next tier', tierText(next_tier)] as const]),
    ...(intent === null ? [] : [['Intent', intentText(intent)] as const]),
  ]
}

const tierText = ({ tier, value_missing }: NonNullable<Explained['next_tier']>): string =>
  value_missing === null
    ? `${tier}: out of reach in this regime`
    : `${tier}: evidence would have to be ${value_missing.toFixed(3)} stronger`

const intentText = ({ status, reasons, intent_id }: NonNullable<Explained['intent']>): string =>
  [`${status}${reasons.length === 0 ? '' : ` (${reasons.join(', ')})`}`, intent_id].join('  ')

const actionCell = (action: Explained['decision']['action']): Cell =>
  action === 'long' || action === 'short' ? good(action) : quiet(action)

const INPUT_COLUMNS = [
  { title: 'Domain' },
  { title: 'Author' },
  { title: 'Quality', align: 'right' },
  { title: 'Share', align: 'right' },
  { title: 'Evidence', align: 'right' },
  { title: 'Contribution', align: 'right' },
  { title: 'Signal' },
] as const

const inputRow = (input: Explained['inputs'][number]): readonly Cell[] => [
  input.domain,
  input.author,
  input.quality.toFixed(2),
  input.share.toFixed(2),
  signed(input.evidence),
  signed(input.contribution),
  quiet(input.signal_id),
]

const WHAT_IF_COLUMNS = [
  { title: 'What would have changed it' },
  { title: '' },
  { title: 'Conviction', align: 'right' },
  { title: 'Decision' },
] as const

const whatIfRow = (one: Explained['what_if'][number]): readonly Cell[] => [
  CHANGES[one.change],
  one.subject,
  one.effective_conviction.toFixed(1),
  actionCell(one.action),
]

const CHANGES = {
  without_author: 'without author',
  without_domain: 'without domain',
  other_regime: 'in regime',
} as const

const signed = (value: number): string => `${value > 0 ? '+' : ''}${value.toFixed(3)}`
