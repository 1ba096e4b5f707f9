import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { Configuration, Intent } from '../../api/types.ts'
import { PageLink } from '../../app/page-link.tsx'
import { Countdown, DecisionButtons, useSize } from '../../app/approvals.tsx'
import { Badge, DirectionBadge } from '../../ui/badge.tsx'
import { formatNumber, formatPercent, formatUsd } from '../../ui/format.ts'
import { Percent, Price, Usd } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'

export const ApprovalsPanel = () => {
  const query = useQuery(queries.intents('awaiting_approval'))
  const waiting = query.data?.length ?? 0
  return (
    <QueryPanel
      title="Waiting for approval"
      flush
      query={query}
      actions={waiting === 0 ? null : <Badge tone="warn">{waiting} waiting</Badge>}
    >
      {(intents) =>
        intents.length === 0 ? (
          <NothingToApprove />
        ) : (
          <ul className="max-h-[32rem] overflow-y-auto" tabIndex={0} aria-label="Intents awaiting approval">
            {intents.map((intent) => (
              <WaitingIntent key={intent.intent_id} intent={intent} />
            ))}
          </ul>
        )
      }
    </QueryPanel>
  )
}

const NothingToApprove = () => {
  const { data: configuration } = useQuery(queries.config())
  return (
    <Empty title="Nothing to approve">
      {configuration === undefined ? null : whatNeedsApproval(configuration)}
      <PageLink to="/settings" search={{ section: 'execution' }} className="block">
        Change what needs approval
      </PageLink>
    </Empty>
  )
}

const whatNeedsApproval = ({ execution }: Configuration): string => {
  const isLive = execution.mode === 'live'
  if (!(execution.require_approval ?? isLive))
    return 'Entries need no approval. By default only live trading asks for it.'
  return isLive
    ? `Entries of the largest tier, and all of ${formatUsd(execution.confirmation_threshold_usd)} and more, need approval.`
    : 'Entries of the largest tier need approval.'
}

const WaitingIntent = ({ intent }: { readonly intent: Intent }) => {
  const { notional } = useSize(intent)
  return (
    <li className="grid gap-2 border-b border-line px-3 py-2.5 text-[13px] last:border-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <strong className="text-sm">{intent.symbol}</strong>
        <DirectionBadge direction={intent.direction} />
        <span>
          <Usd value={notional} />{' '}
          <span className="text-muted">({formatPercent(intent.size_pct)} of equity)</span>
        </span>
        <span className="ml-auto text-xs text-muted">
          <Countdown until={intent.valid_until} />
        </span>
      </div>
      <dl className="flex flex-wrap gap-x-4 gap-y-1 text-xs">
        {factsOf(intent).map(([name, value]) => (
          <div key={name} className="flex gap-1">
            <dt className="text-muted">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Untrusted text={intent.rationale} />
      <div className="flex flex-wrap gap-2">
        <DecisionButtons intent={intent} />
        <PageLink to="/brain" search={{ cycle: intent.cycle_id }} className="ml-auto self-center text-xs">
          Why?
        </PageLink>
      </div>
    </li>
  )
}

const factsOf = (intent: Intent) =>
  [
    ['price', <Price key="price" value={intent.intended_price} />],
    ['leverage', `${formatNumber(intent.leverage)}×`],
    ['conviction', formatNumber(intent.conviction_score, 1)],
    ['stop', <Percent key="stop" value={intent.stop_loss_pct} />],
    ['target', <Percent key="target" value={intent.take_profit_pct} />],
    ['regime', intent.regime],
  ] as const
