import { useQuery } from '@tanstack/react-query'
import type { EventRecord } from '../../api/log.ts'
import { queries } from '../../api/queries.ts'
import { DirectionBadge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { formatNumber } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { Json } from '../../ui/json.tsx'
import { Unknown } from '../../ui/numbers.tsx'
import { QueryContent } from '../../ui/panel.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { ChainProof } from '../audit/chain-proof.tsx'
import { symbolOf } from '../audit/summary.ts'
import { directionOf, strengthOf } from './signal-row.tsx'
import { Story } from './story.tsx'

/** One signal: what it says, who is behind it, what became of it, and the proof that it was said like this. */
export const SignalSheet = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const query = useQuery({ ...queries.event(id), staleTime: Infinity })
  const symbol = query.data === undefined ? null : symbolOf(query.data)
  const title = query.data === undefined ? 'Signal' : `${symbol ?? 'Signal'} · ${query.data.type}`
  return (
    <Dialog title={title} form="sheet" onClose={onClose}>
      <QueryContent query={query} what="the signal">
        {(record) => <SignalContent record={record} />}
      </QueryContent>
    </Dialog>
  )
}

const SignalContent = ({ record }: { readonly record: EventRecord }) => {
  const attribution = useQuery(queries.attribution(record.id))
  return (
    <div className="grid gap-6">
      <Content record={record} />
      <Section title="Attribution story">
        <QueryContent query={attribution} what="the story">
          {(story) => <Story attribution={story} />}
        </QueryContent>
      </Section>
      <ChainProof record={record} />
    </div>
  )
}

const Content = ({ record }: { readonly record: EventRecord }) => {
  const direction = directionOf(record)
  const strength = strengthOf(record)
  const rationale = record.payload['rationale']
  return (
    <Section title="What it says">
      {typeof rationale === 'string' && rationale !== '' ? (
        <blockquote
          tabIndex={0}
          aria-label="Rationale"
          className="max-h-60 overflow-y-auto rounded-md border-l-4 border-line bg-raised px-3 py-2 text-sm"
        >
          <Untrusted lines="all" text={rationale} />
        </blockquote>
      ) : null}
      <Facts
        facts={[
          ['Symbol', symbolOf(record) ?? <Unknown key="symbol" why="about no symbol" />],
          [
            'Direction',
            direction === null ? (
              <Unknown key="direction" why="states none" />
            ) : (
              <DirectionBadge key="direction" direction={direction} />
            ),
          ],
          [
            'Strength',
            strength === null ? <Unknown key="strength" why="states none" /> : formatNumber(strength),
          ],
          ['Author', <Untrusted key="author" text={record.source ?? '–'} />],
          ['Time', <Time key="time" at={record.ts} as="full" />],
          ['Id', <Id key="id" id={record.id} />],
        ]}
      />
      <details>
        <summary className="text-[13px] text-accent">Whole payload</summary>
        <div className="mt-2">
          <Json value={record.payload} />
        </div>
      </details>
    </Section>
  )
}
