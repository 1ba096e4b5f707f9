import { useQuery } from '@tanstack/react-query'
import { api, isNotFound } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Contributor, EventItem, Payload, Score } from '../../api/types.ts'
import { PageLink } from '../../app/page-link.tsx'
import { useAction } from '../../app/use-action.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { useEventList } from '../../live/live.ts'
import { Badge, DirectionBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { formatFixed, formatNumber, formatPercent, formatWords, textOf } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { Unknown, Usd } from '../../ui/numbers.tsx'
import { QueryContent, Section } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { Json, Untrusted } from '../../ui/untrusted.tsx'
import { CalibrationPlot } from '../authors/calibration.tsx'
import { ContributionSections } from '../authors/contribution.tsx'
import { FactorBreakdown, RESOLVED_MIN } from './score-factors.tsx'

/** `?contributor=<id>` */
export const ProfileSheet = () => {
  const [id, setId] = useUrlState('contributor')
  if (id === '') return null
  return <Sheet id={id} onClose={() => setId('')} />
}

const Sheet = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const contributor = useQuery(queries.contributor(id))
  const score = useQuery(queries.score(id))
  const contribution = useQuery(queries.contribution(`contributor:${id}`))
  const isRemoved = isNotFound(contributor.error)
  return (
    <Dialog title="Contributor" form="sheet" onClose={onClose}>
      <div className="grid gap-5">
        {isRemoved ? (
          <p className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
            Not registered or removed. Its signals stay in the log.
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
        {isRemoved ? null : (
          <QueryContent query={contribution} what="what its calls add">
            {(known) => <ContributionSections contribution={known} />}
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
      facts={{
        'Node id': <Untrusted text={contributor.node_id} />,
        Id: <Id id={contributor.id} />,
        Registered: <Time at={contributor.registered_at} as="full" />,
        'Last signal': <Time at={score?.last_active} as="ago" />,
        'Karma paid out': <Usd value={score?.total_karma_usd} />,
        'Karma score':
          score?.karma === undefined ? undefined : `${formatNumber(score.karma, 1)} of 100; 50 is chance`,
      }}
    />
  </div>
)

const RemoveButton = ({ contributor, onRemoved }: Omit<HeadProps, 'score'>) => {
  const remove = useAction({
    send: (_input: void, headers) =>
      api.DELETE('/contributors/{id}', { params: { path: { id: contributor.id } }, headers }),
    confirms: () => ({
      title: 'Remove this contributor?',
      text: `${contributor.node_id.slice(0, 80)} can no longer submit. Its history stays, and the node id may register again as a new contributor.`,
      confirmLabel: 'Remove',
      look: 'danger',
    }),
    done: () => 'The contributor is removed',
    after: onRemoved,
    refreshes: ['contributors', 'scores'],
  })
  return (
    <Button size="small" busy={remove.isPending} onClick={() => remove.run()}>
      Remove
    </Button>
  )
}

const Rating = ({ score }: { readonly score: Score }) => (
  <>
    <Section title={`Score ${formatFixed(score.score, 1)} of 100`} hint="Five factors, each with its part">
      <FactorBreakdown score={score} />
    </Section>
    <Section title="Calibration" hint="Hit rate compared with stated probability">
      <Calibration score={score} />
    </Section>
  </>
)

/** Stated probabilities against outcomes. */
const Calibration = ({ score }: { readonly score: Score }) => {
  const { data } = useQuery(queries.contribution(`contributor:${score.contributor_id}`))
  const isEnough = score.signals_resolved >= RESOLVED_MIN
  return (
    <div className="grid gap-3">
      <Facts
        facts={{
          'Brier score': isEnough ? (
            `${formatFixed(score.brier_score, 3)}; 0 is perfect, 0.25 is chance`
          ) : (
            <Unknown why="too few resolved calls" />
          ),
          'Usual conviction':
            score.signals_submitted === 0 ? (
              <Unknown why="no signal yet" />
            ) : (
              `${formatFixed(score.avg_conviction, 1)} of 10`
            ),
          'Resolved calls': `${score.signals_resolved}, ${score.signals_profitable} hits`,
        }}
      />
      {data === undefined ? null : <CalibrationPlot bins={data.calibration} />}
    </div>
  )
}

const EVENTS_MAX = 100

/** All events about one contributor. */
const History = ({ contributorId }: { readonly contributorId: string }) => {
  const { query, events } = useEventList(
    { about: contributorId, limit: EVENTS_MAX },
    ({ payload }) => payload['contributor_id'] === contributorId,
  )
  return (
    <QueryContent query={query} what="the history">
      {() =>
        events.length === 0 ? (
          <Empty title="Nothing yet">Its signals and their outcomes appear here.</Empty>
        ) : (
          <ol
            className="grid max-h-96 overflow-y-auto rounded-md border border-line"
            aria-label="History"
            tabIndex={0}
          >
            {events.map((event) => (
              <Row key={event.id} event={event} />
            ))}
          </ol>
        )
      }
    </QueryContent>
  )
}

const Row = ({ event: { type, ts, payload } }: { readonly event: EventItem }) => (
  <li className="flex items-center justify-between gap-3 border-b border-line px-3 py-1.5 text-[13px] last:border-0">
    <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
      <What type={type} payload={payload} />
    </span>
    <span className="text-xs text-muted">
      <Time at={ts} as="ago" />
    </span>
  </li>
)

const What = ({ type, payload }: { readonly type: string; readonly payload: Payload }) => {
  const symbol = textOf(payload['symbol'])
  if (type.startsWith('attribution.recorded')) {
    const signalId = textOf(payload['signal_id'])
    return (
      <>
        <PageLink to="/signals" search={{ signal: signalId }}>
          Signal
        </PageLink>
        <strong className="font-medium">{symbol === '' ? 'no symbol' : symbol}</strong>
        {typeof payload['direction'] === 'string' ? (
          <DirectionBadge direction={payload['direction']} />
        ) : null}
        {typeof payload['score'] === 'number' ? (
          <span className="text-muted">conviction {formatNumber(payload['score'], 1)} of 10</span>
        ) : null}
      </>
    )
  }
  if (type.startsWith('attribution.resolved')) {
    return (
      <>
        <span>Outcome</span>
        <strong className="font-medium">{symbol}</strong>
        <HitBadge hit={payload['hit']} />
        {typeof payload['return_pct'] === 'number' ? (
          <span className="text-muted">{formatPercent(payload['return_pct'], { plus: true })}</span>
        ) : null}
      </>
    )
  }
  return <span>{formatWords(type.replace(/\.v\d+$/, '').replaceAll('.', ' '))}</span>
}

const HitBadge = ({ hit }: { readonly hit: unknown }) => {
  if (typeof hit !== 'boolean') return <Badge>void</Badge>
  return <Badge tone={hit ? 'good' : 'bad'}>{hit ? 'hit' : 'miss'}</Badge>
}
