import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { EventRecord } from '../../api/log.ts'
import { queries } from '../../api/queries.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Facts, Id } from '../../ui/id.tsx'
import { Json } from '../../ui/json.tsx'
import { Unknown } from '../../ui/numbers.tsx'
import { QueryContent } from '../../ui/panel.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { ChainProof } from './chain-proof.tsx'
import { symbolOf } from './summary.ts'
import { Trail } from './trail.tsx'

/** One event as it is stored, proven, with what is around it. */
export const RecordSheet = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const query = useQuery({ ...queries.event(id), staleTime: Infinity })
  return (
    <Dialog title={query.data?.type ?? 'Event'} form="sheet" onClose={onClose}>
      <QueryContent query={query} what="the event">
        {(record) => <RecordContent key={record.id} record={record} />}
      </QueryContent>
    </Dialog>
  )
}

const RecordContent = ({ record }: { readonly record: EventRecord }) => (
  <div className="grid gap-6">
    <Facts facts={factsOf(record)} />
    <Section title="Payload" hint="as stored">
      <Json value={record.payload} />
    </Section>
    <Trail record={record} />
    <ChainProof record={record} inAudit />
  </div>
)

const factsOf = (record: EventRecord): readonly (readonly [string, React.ReactNode])[] => {
  return [
    ['Id', <Id key="id" id={record.id} whole />],
    ['Time', <Time key="ts" at={record.ts} as="full" />],
    ['Symbol', symbolOf(record) ?? <Unknown key="symbol" why="about no symbol" />],
    [
      'Author',
      record.source === null ? (
        <Unknown key="source" />
      ) : (
        <FilterLink key="source" filter={{ author: record.source }} text={record.source} />
      ),
    ],
    [
      'Trace',
      record.trace_id === null ? (
        <Unknown key="trace" why="part of no trace" />
      ) : (
        <FilterLink key="trace" filter={{ about: `trace:${record.trace_id}` }} text={record.trace_id} />
      ),
    ],
    [
      'Dedupe key',
      record.dedupe_key === null ? (
        <Unknown key="key" why="none" />
      ) : (
        <Untrusted key="key" text={record.dedupe_key} />
      ),
    ],
    ['Schema', record.schema_version],
  ]
}

const FilterLink = ({
  filter,
  text,
}: {
  readonly filter: Readonly<Record<string, string>>
  readonly text: string
}) => (
  <Link
    to="/audit"
    search={filter as never}
    className="text-accent underline underline-offset-2"
    title="Show all events of it"
  >
    <Untrusted text={text} />
  </Link>
)
