import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { BrainStatus, RegimeView } from '../../api/trading.ts'
import { useRunCycle } from '../../app/commands.ts'
import { openKillSwitch } from '../../app/kill-switch.tsx'
import { Button } from '../../ui/button.tsx'
import { formatNumber, formatWords } from '../../ui/format.ts'
import { Facts } from '../../ui/id.tsx'
import { QueryContent, QueryPanel } from '../../ui/panel.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'

export const BrainPanel = () => {
  const status = useQuery(queries.brainStatus())
  const regime = useQuery(queries.regime())
  return (
    <QueryPanel title="Brain and kill switch" query={status}>
      {(brain) => (
        <div className="grid gap-3">
          <State brain={brain} />
          <QueryContent query={regime} what="the evidence">
            {(view) => <Evidence view={view} />}
          </QueryContent>
          <Buttons level={brain.kill_switch_level} />
        </div>
      )}
    </QueryPanel>
  )
}

const State = ({ brain }: { readonly brain: BrainStatus }) => (
  <Facts
    facts={[
      ['Regime', brain.regime ?? 'not judged yet'],
      ['since', <Time key="since" at={brain.regime_changed_at} as="ago" />],
      ['Last cycle', <Time key="cycle" at={brain.last_cycle_at} as="ago" />],
      ['Kill switch', `level ${brain.kill_switch_level}`],
      ...(brain.kill_switch_reason === null
        ? []
        : [['because', <Untrusted key="reason" text={brain.kill_switch_reason} />] as const]),
    ]}
  />
)

const Evidence = ({ view }: { readonly view: RegimeView }) => {
  const known = Object.entries(view.conditions).filter(([, value]) => value !== null)
  if (known.length === 0) return <p className="text-xs text-muted">No evidence about the regime yet.</p>
  return (
    <p className="flex flex-wrap gap-x-3 gap-y-1 text-xs text-muted">
      {known.map(([name, value]) => (
        <span key={name}>
          {formatWords(name)} <strong className="font-medium text-text">{formatNumber(value ?? 0)}</strong>
        </span>
      ))}
    </p>
  )
}

const Buttons = ({ level }: { readonly level: number }) => {
  const cycle = useRunCycle()
  return (
    <div className="flex flex-wrap gap-2">
      <Button look={level === 0 ? 'danger' : 'plain'} onClick={openKillSwitch}>
        {level === 0 ? 'Raise kill switch' : 'Kill switch'}
      </Button>
      <Button
        busy={cycle.isPending}
        disabled={level > 0}
        title={level > 0 ? 'Refused while the kill switch is up' : undefined}
        onClick={() => cycle.mutate()}
      >
        Run a cycle
      </Button>
    </div>
  )
}
