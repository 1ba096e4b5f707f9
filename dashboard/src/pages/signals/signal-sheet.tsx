import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { queries } from '../../api/queries.ts'
import type { Attribution, EventRecord } from '../../api/types.ts'
import { directionOf, strengthOf, symbolOf } from '../../app/event-summary.ts'
import { PageLink } from '../../app/page-link.tsx'
import { Badge, DirectionBadge } from '../../ui/badge.tsx'
import { cx } from '../../ui/cx.ts'
import { QuerySheet } from '../../ui/dialog.tsx'
import { formatNumber, formatPercent, formatWords, shortId } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { Pnl, Price, Unknown } from '../../ui/numbers.tsx'
import { QueryContent, Section } from '../../ui/panel.tsx'
import { Time } from '../../ui/time.tsx'
import { Json, Untrusted } from '../../ui/untrusted.tsx'
import { ChainProof } from '../audit/chain-proof.tsx'

/** One signal: content, attribution and chain proof. */
export const SignalSheet = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const query = useQuery(queries.event(id))
  const title =
    query.data === undefined ? 'Signal' : `${symbolOf(query.data) ?? 'Signal'} · ${query.data.type}`
  return (
    <QuerySheet query={query} what="the signal" title={title} onClose={onClose}>
      {(record) => <SignalContent record={record} />}
    </QuerySheet>
  )
}

const SignalContent = ({ record }: { readonly record: EventRecord }) => {
  const attribution = useQuery(queries.attribution(record.id))
  return (
    <div className="grid gap-6">
      <Content record={record} />
      <Section title="Attribution">
        <QueryContent query={attribution} what="the attribution">
          {(data) => <AttributionSteps attribution={data} />}
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
    <Section title="Content">
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
        facts={{
          Symbol: symbolOf(record) ?? <Unknown why="no symbol" />,
          Direction: direction === null ? <Unknown why="none" /> : <DirectionBadge direction={direction} />,
          Strength: strength === null ? <Unknown why="none" /> : formatNumber(strength),
          Author: <Untrusted text={record.source ?? '–'} />,
          Time: <Time at={record.ts} as="full" />,
          Id: <Id id={record.id} />,
        }}
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

/** From the signal to the outcome of its trades: what happened, and what is still open. */
const AttributionSteps = ({ attribution }: { readonly attribution: Attribution }) => (
  <ol className="ml-1.5 border-l border-line text-[13px]">
    <Emitted attribution={attribution} />
    {attribution.call === null ? null : <Call call={attribution.call} />}
    <Used attribution={attribution} />
    <Traded attribution={attribution} />
    <Outcome attribution={attribution} />
    <Feedback attribution={attribution} />
  </ol>
)

interface StepProps {
  readonly title: string
  readonly at?: string | null
  readonly done?: boolean
  readonly children?: ReactNode
}

const Step = ({ title, at = null, done = true, children }: StepProps) => (
  <li className="relative pb-3 pl-5 last:pb-0">
    <span
      aria-hidden
      className={cx(
        'absolute top-1.5 -left-[5px] size-2.5 rounded-full border-2 border-panel',
        done ? 'bg-accent' : 'bg-line',
      )}
    />
    <div className="flex flex-wrap items-baseline justify-between gap-x-3">
      <span className={done ? 'font-medium' : 'text-muted'}>{title}</span>
      {at === null ? null : (
        <span className="text-xs text-muted">
          <Time at={at} />
        </span>
      )}
    </div>
    {children === undefined ? null : <div className="mt-0.5 text-muted">{children}</div>}
  </li>
)

const Emitted = ({ attribution }: { readonly attribution: Attribution }) => {
  const { contributor, producer_id, emitted_at, received_at } = attribution
  return (
    <Step
      title={contributor === null ? 'Emitted by a producer' : 'Submitted by a contributor'}
      at={emitted_at}
    >
      {contributor === null ? (
        <Untrusted text={producer_id ?? 'unknown'} />
      ) : (
        <PageLink to="/contributors" search={{ contributor: contributor.id }}>
          <Untrusted text={`${contributor.name} (${contributor.node_id}), ${contributor.role}`} />
        </PageLink>
      )}
      {received_at === emitted_at ? null : (
        <p>
          received <Time at={received_at} />
        </p>
      )}
    </Step>
  )
}

const Call = ({ call }: { readonly call: NonNullable<Attribution['call']> }) => {
  const { direction, probability, due_at, status, hit, return_pct, ref_price, exit_price } = call
  const verdict = status === 'open' ? 'open' : status === 'void' ? 'void' : hit === true ? 'hit' : 'miss'
  return (
    <Step title={`Call: ${verdict}`} at={call.resolved_at} done={status !== 'open'}>
      {direction ?? 'no direction'}
      {probability === null ? '' : `, ${formatPercent(probability, { digits: 0 })} probability`}
      {ref_price === null ? null : (
        <>
          , from <Price value={ref_price} />
        </>
      )}
      {exit_price === null ? null : (
        <>
          {' '}
          to <Price value={exit_price} />
        </>
      )}
      {return_pct === null ? '' : ` (${formatPercent(return_pct, { plus: true })})`}
      {status === 'open' && due_at !== null ? (
        <>
          , due <Time at={due_at} as="ago" />
        </>
      ) : null}
      {call.void_reason === null ? '' : `: ${formatWords(call.void_reason)}`}
    </Step>
  )
}

const USES_SHOWN = 5

const Used = ({ attribution: { accepted, uses } }: { readonly attribution: Attribution }) => {
  if (!accepted) {
    return (
      <Step title="Not used by a cycle yet" done={false}>
        The brain uses fresh signals about symbols of its universe.
      </Step>
    )
  }
  if (uses.length === 0) return <Step title="Used by the brain" />
  return (
    <Step
      title={uses.length === 1 ? 'Used in 1 cycle' : `Used in ${uses.length} cycles`}
      at={uses[0]?.at ?? null}
    >
      <ul>
        {uses.slice(-USES_SHOWN).map((use) => (
          <UseLine key={use.conviction_id} use={use} />
        ))}
      </ul>
    </Step>
  )
}

const UseLine = ({ use }: { readonly use: Attribution['uses'][number] }) => (
  <li className="flex flex-wrap items-baseline justify-between gap-x-3">
    <PageLink to="/brain" search={{ why: use.conviction_id }}>
      {use.symbol}: {use.action}
    </PageLink>
    <span>
      share {formatPercent(use.share, { digits: 0 })}, adds {formatNumber(use.contribution, 3)} ·{' '}
      <Time at={use.at} />
    </span>
  </li>
)

const Traded = ({ attribution: { linked_trade_ids, trades } }: { readonly attribution: Attribution }) => {
  if (linked_trade_ids.length === 0) return <Step title="No trades" done={false} />
  const count = linked_trade_ids.length
  const known = new Map(trades.map((trade) => [trade.position_id, trade]))
  return (
    <Step title={count === 1 ? 'Used in 1 trade' : `Used in ${count} trades`}>
      <ul>
        {linked_trade_ids.map((id) => (
          <TradeLine key={id} id={id} trade={known.get(id) ?? null} />
        ))}
      </ul>
    </Step>
  )
}

const TradeLine = ({
  id,
  trade,
}: {
  readonly id: string
  readonly trade: Attribution['trades'][number] | null
}) => (
  <li className="flex flex-wrap items-baseline justify-between gap-x-3">
    <PageLink to="/positions" search={{ position: id }} title={id}>
      Position {shortId(id)}
    </PageLink>
    {trade === null ? null : (
      <span>
        {trade.weight === null ? '' : `weight ${formatPercent(trade.weight, { digits: 0 })} · `}
        {trade.pnl === null ? 'open' : <Pnl value={trade.pnl} />}
        {trade.exit_reason === null ? '' : ` · ${formatWords(trade.exit_reason)}`}
      </span>
    )}
  </li>
)

const Outcome = ({ attribution: { outcome, linked_trade_ids } }: { readonly attribution: Attribution }) => {
  if (outcome !== null) {
    return (
      <Step title="Outcome" at={outcome.realized_at}>
        All its trades: <Pnl value={outcome.pnl} />
      </Step>
    )
  }
  return linked_trade_ids.length === 0 ? null : (
    <Step title="Outcome open" done={false}>
      Known once all its trades are closed.
    </Step>
  )
}

const Feedback = ({ attribution: { feedback } }: { readonly attribution: Attribution }) =>
  feedback === null ? null : (
    <Step title="Feedback" at={feedback.at}>
      <Badge>{formatWords(feedback.outcome)}</Badge>{' '}
      {feedback.pnl === null ? null : <Pnl value={feedback.pnl} />}
    </Step>
  )
