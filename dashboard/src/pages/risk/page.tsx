import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import { ApprovalsPanel } from './approvals-panel.tsx'
import { BlacklistPanel } from './blacklist-panel.tsx'
import { HistoryPanel } from './history-panel.tsx'
import { KillSwitchPanel } from './kill-switch-panel.tsx'
import { LimitsPanel } from './limits-panel.tsx'
import { OrdersPanel } from './orders-panel.tsx'

/** What may go wrong, how far away it is, and what can be done about it. */
export const Page = () => {
  const { data: waiting = [] } = useQuery(queries.intents('awaiting_approval'))
  const isAsked = waiting.length > 0
  return (
    <div className="grid gap-3 lg:grid-cols-12">
      <div className="grid min-w-0 content-start gap-3 lg:col-span-8">
        {/* A question that expires comes before everything else. */}
        {isAsked ? <ApprovalsPanel /> : null}
        <LimitsPanel />
        {isAsked ? null : <ApprovalsPanel />}
        <OrdersPanel />
      </div>
      <div className="grid min-w-0 content-start gap-3 lg:col-span-4">
        <KillSwitchPanel />
        <HistoryPanel />
        <BlacklistPanel />
      </div>
    </div>
  )
}
