import { useQuery } from '@tanstack/react-query'
import { ApiProblem } from '../../api/client.ts'
import type { Contributor, Score } from '../../api/people.ts'
import { queries } from '../../api/queries.ts'
import { confirm } from '../../app/confirm.tsx'
import { useAction } from '../../app/use-action.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { formatNumber } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { Json } from '../../ui/json.tsx'
import { Usd } from '../../ui/numbers.tsx'
import { QueryContent } from '../../ui/panel.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { Calibration } from './calibration.tsx'
import { FactorBreakdown } from './factor-breakdown.tsx'
import { History } from './history.tsx'

/** `?contributor=<id>` */
export const ProfileSheet = () => {
  const [id, setId] = useUrlState('contributor')
  if (id === '') return null
  return <Sheet id={id} onClose={() => setId('')} />
}

const Sheet = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const contributor = useQuery(queries.contributor(id))
  const score = useQuery(queries.score(id))
  const isRemoved = contributor.error instanceof ApiProblem && contributor.error.status === 404
  return (
    <Dialog title="Contributor" form="sheet" onClose={onClose}>
      <div className="grid gap-5">
        {isRemoved ? (
          <p className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
            Not registered, or removed. What it said stays in the log.
          </p>
        ) : (
          <QueryContent query={contributor} what="the contributor">
            {(known) => <Head contributor={known} score={score.data} onRemoved={onClose} />}
          </QueryContent>
        )}
        {isRemoved ? null : (
          <QueryContent query={score} what="the score">
            {(rated) => <Rating score={rated} />}
          </QueryContent>
        )}
        <Section title="History" hint="Newest first">
          <History contributorId={id} />
        </Section>
        {contributor.data === undefined || Object.keys(contributor.data.metadata).length === 0 ? null : (
          <Section title="Metadata">
            <Json value={contributor.data.metadata} />
          </Section>
        )}
      </div>
    </Dialog>
  )
}

interface HeadProps {
  readonly contributor: Contributor
  readonly score: Score | undefined
  readonly onRemoved: () => void
}

const Head = ({ contributor, score, onRemoved }: HeadProps) => (
  <div className="grid gap-3">
    <div className="flex flex-wrap items-start justify-between gap-3">
      <div className="min-w-0">
        <h3 className="text-lg font-semibold">
          <Untrusted text={contributor.name} />
        </h3>
        <Badge>
          <Untrusted lines={1} text={contributor.role} />
        </Badge>
      </div>
      <RemoveButton contributor={contributor} onRemoved={onRemoved} />
    </div>
    <Facts
      facts={[
        ['Node id', <Untrusted key="node" text={contributor.node_id} />],
        ['Id', <Id key="id" id={contributor.id} />],
        ['Registered', <Time key="registered" at={contributor.registered_at} as="full" />],
        ['Last signal', <Time key="active" at={score?.last_active} as="ago" />],
        ['Karma paid out', <Usd key="karma" value={score?.total_karma_usd} />],
        ...(score?.karma === undefined
          ? []
          : [['Karma score', `${formatNumber(score.karma, 1)} of 100; 50 is chance`] as const]),
      ]}
    />
  </div>
)

const RemoveButton = ({ contributor, onRemoved }: Omit<HeadProps, 'score'>) => {
  const remove = useAction<void, { readonly removed: string }>({
    request: () => ({ path: `/contributors/${encodeURIComponent(contributor.id)}`, method: 'DELETE' }),
    done: () => 'The contributor is removed',
    after: onRemoved,
    refreshes: ['contributors', 'scores'],
  })
  const ask = async (): Promise<void> => {
    const answer = await confirm({
      title: 'Remove this contributor?',
      text: `${contributor.node_id.slice(0, 80)} cannot submit any more. Its history stays, and the node id may register again as a new contributor.`,
      confirmLabel: 'Remove',
      look: 'danger',
    })
    if (answer !== null) remove.mutate()
  }
  return (
    <Button size="small" busy={remove.isPending} onClick={() => void ask()}>
      Remove
    </Button>
  )
}

const Rating = ({ score }: { readonly score: Score }) => (
  <>
    <Section title={`Score ${score.score.toFixed(1)} of 100`} hint="Five factors, each with its part">
      <FactorBreakdown score={score} />
    </Section>
    <Section title="Calibration" hint="Is it as often right as it is sure?">
      <Calibration score={score} />
    </Section>
  </>
)
