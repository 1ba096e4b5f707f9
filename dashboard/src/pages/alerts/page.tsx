import { useState } from 'react'
import type { EventItem } from '../../api/types.ts'
import { lineOf, useAcknowledge, useOpenAlerts } from '../../app/alerts.tsx'
import { type Signal, turnOff, turnOn, useSignals } from '../../app/announce.ts'
import { PageLink } from '../../app/page-link.tsx'
import { useEventList } from '../../live/live.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Panel, QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'

/** Open alerts, past alerts, and the announcements of this browser. */
export const Page = () => (
  <div className="grid gap-3 lg:grid-cols-12">
    <div className="grid min-w-0 content-start gap-3 lg:col-span-8">
      <OpenPanel />
      <HistoryPanel />
    </div>
    <div className="grid min-w-0 content-start gap-3 lg:col-span-4">
      <AnnouncePanel />
    </div>
  </div>
)

const OpenPanel = () => {
  const query = useOpenAlerts()
  const acknowledge = useAcknowledge()
  const open = query.data?.open ?? []
  return (
    <QueryPanel
      title="Open alerts"
      flush
      query={query}
      actions={
        open.length < 2 ? null : (
          <Button
            size="small"
            busy={acknowledge.isPending}
            onClick={() => acknowledge.run(open.map(({ id }) => id))}
          >
            Acknowledge all {open.length}
          </Button>
        )
      }
    >
      {() =>
        open.length === 0 ? (
          <Empty title="Nothing needs attention">
            Stops and targets that were hit, a raised kill switch and trouble at a venue stay here until
            somebody acknowledges them.
          </Empty>
        ) : (
          <ul aria-label="Alerts to acknowledge">
            {open.map((alert) => (
              <AlertItem key={alert.id} alert={{ ...alert, source: null }}>
                <Button
                  size="small"
                  busy={acknowledge.isPending && acknowledge.input?.includes(alert.id) === true}
                  onClick={() => acknowledge.run([alert.id])}
                >
                  Acknowledge
                </Button>
              </AlertItem>
            ))}
          </ul>
        )
      }
    </QueryPanel>
  )
}

const HISTORY_MAX = 100

const HistoryPanel = () => {
  const { query, events: alerts } = useEventList({ type: 'alert', limit: HISTORY_MAX })
  return (
    <QueryPanel
      title="All alerts"
      flush
      query={query}
      actions={
        <PageLink to="/audit" search={{ type: 'alert' }}>
          In the log
        </PageLink>
      }
    >
      {() =>
        alerts.length === 0 ? (
          <Empty title="No alerts">Stops, targets, regime shifts and the kill switch show up here.</Empty>
        ) : (
          <ul aria-label="List of all alerts" className="max-h-[40rem] overflow-y-auto" tabIndex={0}>
            {alerts.map((alert) => (
              <AlertItem key={alert.id} alert={alert} />
            ))}
          </ul>
        )
      }
    </QueryPanel>
  )
}

interface AlertItemProps {
  readonly alert: EventItem
  readonly children?: React.ReactNode
}

export const AlertItem = ({ alert, children }: AlertItemProps) => {
  const { tone, name, text, positionId } = lineOf(alert)
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3 py-2 text-[13px] last:border-0">
      <div className="grid min-w-0 flex-1 basis-56 gap-0.5">
        <div className="flex flex-wrap items-center gap-2">
          <Badge tone={tone}>{name}</Badge>
          <span className="text-xs text-muted">
            <Time at={alert.ts} as="ago" />
          </span>
          {positionId === null ? null : (
            <PageLink to="/positions" search={{ position: positionId }} className="text-xs">
              Position
            </PageLink>
          )}
        </div>
        <Untrusted text={text} />
      </div>
      {children}
    </li>
  )
}

const SIGNALS: readonly (readonly [signal: Signal, label: string, hint: string])[] = [
  ['notification', 'Browser notification', 'Also while another tab or program is in front.'],
  ['sound', 'Sound', 'A short tone. Browsers play it once you have clicked something on the page.'],
]

const AnnouncePanel = () => {
  const signals = useSignals()
  const [problem, setProblem] = useState<string | null>(null)
  const change = async (signal: Signal, isOn: boolean): Promise<void> => {
    setProblem(null)
    if (isOn) setProblem(await turnOn(signal))
    else turnOff(signal)
  }
  return (
    <Panel title="Draw my attention">
      <div className="grid gap-3 text-[13px]">
        <p className="text-muted">
          Approvals and new alerts stand on every page and in the title of the tab. This browser can do more:
        </p>
        {SIGNALS.map(([signal, label, hint]) => (
          <label key={signal} className="flex min-h-[40px] items-start gap-2">
            <input
              type="checkbox"
              className="mt-1 accent-accent"
              checked={signals[signal]}
              onChange={(event) => void change(signal, event.target.checked)}
            />
            <span>
              <span className="font-medium">{label}</span>
              <span className="block text-xs text-muted">{hint}</span>
            </span>
          </label>
        ))}
        {problem === null ? null : (
          <p role="alert" className="text-warn">
            {problem}
          </p>
        )}
      </div>
    </Panel>
  )
}
