import { useMutation } from '@tanstack/react-query'
import { ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import { verifyChain } from '../../api/queries.ts'
import type { Integrity, VerifyProgress } from '../../api/types.ts'
import { PageLink } from '../../app/page-link.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Choice } from '../../ui/field.tsx'
import { formatCount, formatDuration, formatPercent } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { Panel } from '../../ui/panel.tsx'
import { Failure } from '../../ui/states.tsx'

const EXTENTS = [
  ['100', 'newest 100'],
  ['1000', 'newest 1,000'],
  ['10000', 'newest 10,000'],
  ['100000', 'newest 100,000'],
  ['all', 'all events'],
] as const

/** Verifies hashes, links, order, signatures and checkpoints. */
export const VerifyPanel = ({ className = '' }: { readonly className?: string }) => {
  const [extent, setExtent] = useState('1000')
  const [progress, setProgress] = useState<VerifyProgress | null>(null)
  const verification = useMutation({
    onMutate: () => setProgress(null),
    mutationFn: (wanted: string) =>
      verifyChain(wanted === 'all' ? { mode: 'full' } : { mode: 'fast', n: Number(wanted) }, setProgress),
  })
  return (
    <Panel
      title="Verification"
      className={className}
      actions={
        <>
          <Choice
            label="What to verify"
            value={extent}
            choices={EXTENTS}
            onChoose={setExtent}
            disabled={verification.isPending}
          />
          <Button
            size="small"
            look="primary"
            busy={verification.isPending}
            onClick={() => verification.mutate(extent)}
          >
            <ShieldCheck className="size-3.5" aria-hidden /> Verify
          </Button>
        </>
      }
    >
      <div role="status" aria-live="polite">
        <Outcome verification={verification} progress={progress} />
      </div>
    </Panel>
  )
}

interface OutcomeProps {
  readonly verification: {
    readonly isPending: boolean
    readonly variables: string | undefined
    readonly error: Error | null
    readonly data: Integrity | undefined
  }
  readonly progress: VerifyProgress | null
}

const Outcome = ({ verification: { isPending, variables, error, data }, progress }: OutcomeProps) => {
  if (isPending) return <Progress progress={progress} steps={variables === 'all' ? STEPS : ['signatures']} />
  if (error !== null) return <Failure error={error} />
  if (data !== undefined) return <Result report={data} />
  return (
    <p className="text-[13px] text-muted">
      The service recomputes every hash and link and checks every signature. All events of a large log take a
      while; trading continues meanwhile.
    </p>
  )
}

/** All events are verified in these steps, one after the other. */
export const STEPS: readonly VerifyProgress['step'][] = ['hashes', 'signatures', 'state']

interface ProgressProps {
  /** Null while it is not known. */
  readonly progress: VerifyProgress | null
  readonly steps: readonly VerifyProgress['step'][]
}

const Progress = ({ progress, steps }: ProgressProps) => {
  const share = shareOf(progress, steps)
  return (
    <div className="grid gap-1 text-[13px]">
      <div className="flex justify-between gap-2">
        <span>{stepText(progress)}</span>
        <span className="text-muted">{share === null ? '' : formatPercent(share, { digits: 0 })}</span>
      </div>
      <progress
        aria-label="Verification"
        className="w-full"
        {...(share === null ? {} : { value: share, max: 1 })}
      />
    </div>
  )
}

export const shareOf = (progress: VerifyProgress | null, steps: ProgressProps['steps']): number | null => {
  if (progress === null || progress.total === 0) return null
  return (steps.indexOf(progress.step) + progress.checked / progress.total) / steps.length
}

const stepText = (progress: VerifyProgress | null): string =>
  progress === null || progress.total === 0
    ? 'Verifying …'
    : `Verifying ${progress.step}: ${formatCount(progress.checked)} of ${formatCount(progress.total)}`

const Result = ({ report }: { readonly report: Integrity }) => (
  <div className="grid gap-3">
    <div className="flex flex-wrap items-center gap-2">
      <Badge tone={report.ok ? 'good' : 'bad'}>{report.ok ? 'Verified' : 'Broken'}</Badge>
      <span className="text-[13px]">
        {report.mode === 'full'
          ? `All ${formatCount(report.checked)} events`
          : `The newest ${formatCount(report.checked)} of ${formatCount(report.event_count)} events`}{' '}
        in {formatDuration(report.elapsed_ms)}
      </span>
    </div>
    {report.ok ? null : <BrokenChain report={report} />}
    <Facts
      facts={{ Head: `no. ${formatCount(report.head_seq)}`, 'Head hash': <Id id={report.head_hash} /> }}
    />
  </div>
)

const BrokenChain = ({ report: { reason, first_bad_seq, first_bad_id } }: { readonly report: Integrity }) => (
  <div className="rounded-md bg-bad-soft p-3 text-[13px] text-bad">
    <p>
      {REASONS[reason ?? ''] ?? `Verification failed (${reason ?? 'unknown'}).`}
      {first_bad_seq === null ? '' : ` First at event ${formatCount(first_bad_seq)}.`}
    </p>
    {first_bad_id === null ? null : (
      <PageLink to="/audit" search={{ event: first_bad_id }}>
        Open it
      </PageLink>
    )}
    <p className="mt-1">Raise the kill switch and compare with a backup. Run svc integrity for details.</p>
  </div>
)

const REASONS: Readonly<Record<string, string>> = {
  hash: 'The content of an event does not give its hash: it was changed.',
  link: 'An event does not link to the one before it.',
  sequence: 'An event is missing or doubled.',
  field: 'A field holds what it never may.',
  canonical: 'A payload is not in canonical form.',
  order: 'Times of recording go backwards.',
  signature: 'A signature is missing, wrong, or by an unknown key.',
  checkpoint: 'The log contradicts a signed checkpoint: history was rewritten.',
  truncated: 'The log is shorter than a signed checkpoint: its end was cut off.',
}
