import { useQuery } from '@tanstack/react-query'
import type { ProducerStatus } from '../../api/people.ts'
import { queries } from '../../api/queries.ts'
import { formatCount } from '../../ui/format.ts'
import { Stat } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Time } from '../../ui/time.tsx'
import { isInTrouble } from './words.ts'

export const SummaryPanel = ({ className = '' }: { readonly className?: string }) => {
  const query = useQuery(queries.producerStatus())
  return (
    <QueryPanel title="Now" className={className} query={query}>
      {({ producers }) => <Figures producers={Object.values(producers)} />}
    </QueryPanel>
  )
}

const Figures = ({ producers }: { readonly producers: readonly ProducerStatus[] }) => {
  const working = producers.filter(({ health }) => health === 'ok').length
  const troubled = producers.filter(isInTrouble)
  const waiting = producers.filter(({ health }) => health === 'unknown').length
  const signals = producers.reduce((sum, { events_produced }) => sum + events_produced, 0)
  const newest = producers
    .map(({ last_run_at }) => last_run_at ?? '')
    .toSorted()
    .at(-1)
  const registered = producers.filter(({ kind }) => kind === 'registered').length
  return (
    <dl className="grid grid-cols-2 gap-4 sm:grid-cols-3 lg:grid-cols-5">
      <Stat label="Working" note={`of ${producers.length} producers`}>
        <span className="text-good">{working}</span>
      </Stat>
      <Stat label="In trouble" note={troubledText(troubled)}>
        <span className={troubled.length === 0 ? undefined : 'text-bad'}>{troubled.length}</span>
      </Stat>
      <Stat label="Not run yet" note="or without a schedule">
        {waiting}
      </Stat>
      <Stat label="Signals" note="written by all of them so far">
        {formatCount(signals)}
      </Stat>
      <Stat label="Newest run" note={`${registered} registered, ${producers.length - registered} built in`}>
        <Time at={newest} as="ago" />
      </Stat>
    </dl>
  )
}

const NAMED_MAX = 3

const troubledText = (troubled: readonly ProducerStatus[]): string => {
  if (troubled.length === 0) return 'nobody needs help'
  const named = troubled
    .slice(0, NAMED_MAX)
    .map(({ name }) => name)
    .join(', ')
  return troubled.length > NAMED_MAX ? `${named} and ${troubled.length - NAMED_MAX} more` : named
}
