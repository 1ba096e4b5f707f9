import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { numberAt, textAt } from '../../api/configuration.ts'
import type { Configuration } from '../../api/log.ts'
import type { Treasury } from '../../api/people.ts'
import { queries } from '../../api/queries.ts'
import { formatUsd } from '../../ui/format.ts'
import { Percent, Stat } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Karma } from './karma-amount.tsx'

export const SummaryPanel = ({ className }: { readonly className: string }) => {
  const query = useQuery(queries.treasury())
  const { data: configuration } = useQuery(queries.config())
  return (
    <QueryPanel title="Karma" className={className} query={query}>
      {(treasury) => (
        <div className="grid gap-3">
          <WhyNothing treasury={treasury} />
          <dl className="grid grid-cols-2 gap-4 sm:grid-cols-4">
            <Stat label="Waiting to be settled" note={countText(treasury.pending_intents, 'intent')}>
              <Karma usd={treasury.pending_usd} />
            </Stat>
            <Stat label="Settled" note={countText(treasury.receipts, 'receipt')}>
              <Karma usd={treasury.settled_usd} />
            </Stat>
            <Stat label="Rate" note="of the net profit of each winning trade">
              <Percent value={treasury.percentage} />
            </Stat>
            <Stat label="Settlement" note={whenText(configuration)}>
              {textAt(configuration, 'karma.settlement_mode') || '…'}
            </Stat>
          </dl>
        </div>
      )}
    </QueryPanel>
  )
}

/** Why no karma arises, where that is so. */
const WhyNothing = ({ treasury }: { readonly treasury: Treasury }) => {
  const why = !treasury.enabled
    ? 'Karma is switched off (karma.enabled).'
    : treasury.treasury_address === ''
      ? 'No treasury address is set, so winning trades owe nothing (karma.treasury_address).'
      : treasury.percentage === 0
        ? 'The rate is zero (karma.percentage).'
        : null
  if (why === null) return null
  return (
    <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-[13px] text-warn">
      {why}{' '}
      <Link to="/settings" search={{ section: 'karma' } as never} className="font-medium underline">
        Open the settings of karma
      </Link>
    </p>
  )
}

const countText = (count: number, word: string): string => `${count} ${count === 1 ? word : `${word}s`}`

const whenText = (configuration: Configuration | undefined): string => {
  switch (textAt(configuration, 'karma.settlement_mode')) {
    case 'manual':
      return 'only by hand, below'
    case 'daily':
      return 'all that waits, at 00:00 UTC'
    case 'weekly':
      return 'all that waits, Mondays at 00:00 UTC'
    case 'threshold':
      return `all that waits, from ${formatUsd(numberAt(configuration, 'karma.threshold_usd') ?? 0)}`
    default:
      return ''
  }
}
