import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Attribution, SignalCall, SignalTrade, SignalUse } from '../../api/log.ts'
import { Badge } from '../../ui/badge.tsx'
import { cx } from '../../ui/cx.ts'
import { formatNumber, formatPercent, formatWords, shortId } from '../../ui/format.ts'
import { Pnl, Price } from '../../ui/numbers.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'

/** From being said to being paid for: what happened, and what has not happened yet. */
export const Story = ({ attribution }: { readonly attribution: Attribution }) => (
  <ol className="ml-1.5 border-l border-line text-[13px]">
    <Said attribution={attribution} />
    {attribution.call === undefined || attribution.call === null ? null : <Called call={attribution.call} />}
    <Used attribution={attribution} />
    <Traded attribution={attribution} />
    <Ended attribution={attribution} />
    <Fed attribution={attribution} />
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

const Said = ({ attribution }: { readonly attribution: Attribution }) => {
  const { contributor, producer_id, emitted_at, received_at } = attribution
  return (
    <Step title={contributor === null ? 'Said by a producer' : 'Said by a contributor'} at={emitted_at}>
      {contributor === null ? (
        <Untrusted text={producer_id ?? 'nobody is named'} />
      ) : (
        <Link
          to="/contributors"
          search={{ contributor: contributor.id } as never}
          className="text-accent underline underline-offset-2"
        >
          <Untrusted text={`${contributor.name} (${contributor.node_id}), ${contributor.role}`} />
        </Link>
      )}
      {received_at === emitted_at ? null : (
        <p>
          received <Time at={received_at} />
        </p>
      )}
    </Step>
  )
}

const Called = ({ call }: { readonly call: SignalCall }) => {
  const { direction, probability, due_at, status, hit, return_pct, ref_price, exit_price } = call
  const verdict =
    status === 'open'
      ? 'waits for the market'
      : status === 'void'
        ? 'not judged'
        : hit === true
          ? 'right'
          : 'wrong'
  return (
    <Step title={`Its call: ${verdict}`} at={call.resolved_at} done={status !== 'open'}>
      {direction ?? 'no direction'}
      {probability === null ? '' : `, ${formatPercent(probability, { digits: 0 })} sure`}
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
      {return_pct === null ? '' : ` (${formatNumber(return_pct)} %)`}
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
        The brain uses what names a symbol it follows, while it is fresh and has a share.
      </Step>
    )
  }
  if (uses === undefined || uses.length === 0) return <Step title="Used by the brain" />
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

const UseLine = ({ use }: { readonly use: SignalUse }) => (
  <li className="flex flex-wrap items-baseline justify-between gap-x-3">
    <Link
      to="/brain"
      search={{ why: use.conviction_id } as never}
      className="text-accent underline underline-offset-2"
    >
      {use.symbol}: {use.action}
    </Link>
    <span>
      share {formatPercent(use.share, { digits: 0 })}, adds {formatNumber(use.contribution, 3)} ·{' '}
      <Time at={use.at} />
    </span>
  </li>
)

const Traded = ({ attribution: { linked_trade_ids, trades } }: { readonly attribution: Attribution }) => {
  if (linked_trade_ids.length === 0) return <Step title="Behind no trade" done={false} />
  const count = linked_trade_ids.length
  const known = new Map((trades ?? []).map((trade) => [trade.position_id, trade]))
  return (
    <Step title={count === 1 ? 'Behind 1 trade' : `Behind ${count} trades`}>
      <ul>
        {linked_trade_ids.map((id) => (
          <TradeLine key={id} id={id} trade={known.get(id) ?? null} />
        ))}
      </ul>
    </Step>
  )
}

const TradeLine = ({ id, trade }: { readonly id: string; readonly trade: SignalTrade | null }) => (
  <li className="flex flex-wrap items-baseline justify-between gap-x-3">
    <Link
      to="/positions"
      search={{ position: id } as never}
      className="text-accent underline underline-offset-2"
      title={id}
    >
      Position {shortId(id)}
    </Link>
    {trade === null ? null : (
      <span>
        {trade.weight === null ? '' : `part ${formatPercent(trade.weight, { digits: 0 })} · `}
        {trade.pnl === null ? 'open' : <Pnl value={trade.pnl} />}
        {trade.exit_reason === null ? '' : ` · ${formatWords(trade.exit_reason)}`}
      </span>
    )}
  </li>
)

const Ended = ({ attribution: { outcome, linked_trade_ids } }: { readonly attribution: Attribution }) => {
  if (outcome !== null) {
    return (
      <Step title="Outcome" at={outcome.realized_at}>
        All its trades together: <Pnl value={outcome.pnl} />
      </Step>
    )
  }
  return linked_trade_ids.length === 0 ? null : (
    <Step title="Outcome open" done={false}>
      Known once all its trades are closed.
    </Step>
  )
}

const Fed = ({ attribution: { feedback } }: { readonly attribution: Attribution }) =>
  feedback === null ? null : (
    <Step title="Feedback" at={feedback.at}>
      <Badge>{formatWords(feedback.outcome)}</Badge>{' '}
      {feedback.pnl === null ? null : <Pnl value={feedback.pnl} />}
    </Step>
  )
