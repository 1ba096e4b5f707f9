import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { EventRecord } from '../../api/log.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { formatCount } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { QueryContent } from '../../ui/panel.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { proveRecord, type Finding, type Verdict } from './proof.ts'

const WORDS: Readonly<Record<Verdict, readonly [tone: Tone, word: string]>> = {
  pass: ['good', 'right'],
  fail: ['bad', 'wrong'],
  unknown: ['neutral', 'not checked'],
}

/** Where an event stands in the chain, and whether that is so: checked anew in this browser. */
export const ChainProof = ({
  record,
  inAudit = false,
}: {
  readonly record: EventRecord
  /** No link to where one is already. */
  readonly inAudit?: boolean
}) => {
  const proof = useQuery({
    queryKey: ['proof', record.id],
    queryFn: () => proveRecord(record),
    staleTime: Infinity,
  })
  return (
    <Section title="Chain proof" hint="checked in this browser">
      <QueryContent query={proof} what="the proof">
        {(findings) => <Findings findings={findings} />}
      </QueryContent>
      <Facts
        facts={[
          ['Event', `no. ${formatCount(record.seq)} of the log`],
          ['Recorded', <Time key="recorded" at={record.recorded_at} as="full" />],
          ['Hash', <Id key="hash" id={record.hash} whole />],
          [
            'Previous hash',
            record.prev_hash === '' ? 'none: the first event' : <Id key="prev" id={record.prev_hash} whole />,
          ],
          [
            'Signature',
            record.signature === null ? 'none' : <Id key="signature" id={record.signature} whole />,
          ],
          ['Signer', record.signer === null ? 'none' : <Id key="signer" id={record.signer} whole />],
        ]}
      />
      {inAudit ? null : (
        <Link
          to="/audit"
          search={{ event: record.id } as never}
          className="text-[13px] text-accent underline underline-offset-2"
        >
          Open in the audit
        </Link>
      )}
    </Section>
  )
}

const Findings = ({ findings }: { readonly findings: readonly Finding[] }) => (
  <ul className="grid gap-1 text-[13px]">
    {findings.map(({ what, verdict, text }) => (
      <li
        key={what}
        className="grid grid-cols-[9.5rem_1fr] items-baseline gap-2 max-sm:grid-cols-1 max-sm:gap-0"
      >
        <span>
          <Badge tone={WORDS[verdict][0]}>
            {what}: {WORDS[verdict][1]}
          </Badge>
        </span>
        <span className="text-muted">{text}</span>
      </li>
    ))}
  </ul>
)
