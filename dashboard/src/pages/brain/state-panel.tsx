import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { BrainStatus, Explanation } from '../../api/trading.ts'
import { useRunCycle } from '../../app/commands.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Stat } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { REGIME_TONES } from './words.ts'

export const StatePanel = ({ className = '' }: { readonly className?: string }) => {
  const status = useQuery(queries.brainStatus())
  const { data: last } = useQuery(queries.explanation('last'))
  return (
    <QueryPanel
      title="Now"
      className={className}
      query={status}
      actions={<RunCycle level={status.data?.kill_switch_level} />}
    >
      {(brain) => <Figures brain={brain} last={last} />}
    </QueryPanel>
  )
}

const RunCycle = ({ level }: { readonly level: number | undefined }) => {
  const cycle = useRunCycle()
  const isBlocked = level !== undefined && level > 0
  return (
    <>
      {isBlocked ? <span className="text-warn">Cycles by hand wait for level 0</span> : null}
      <Button
        size="small"
        look="primary"
        busy={cycle.isPending}
        disabled={isBlocked}
        onClick={() => cycle.mutate()}
      >
        Run a cycle
      </Button>
    </>
  )
}

interface FiguresProps {
  readonly brain: BrainStatus
  readonly last: Explanation | undefined
}

const Figures = ({ brain, last }: FiguresProps) => {
  const convictions = last?.convictions ?? []
  const strongest = convictions.toSorted(
    (one, other) => other.effective_conviction - one.effective_conviction,
  )[0]
  const traded = convictions.filter(({ intent }) => intent !== null).length
  return (
    <div className="grid gap-3">
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-3 lg:grid-cols-5">
        <Stat
          label="Regime"
          note={
            brain.regime_changed_at === null ? (
              'the first cycle judges it'
            ) : (
              <>
                since <Time at={brain.regime_changed_at} as="ago" />
              </>
            )
          }
        >
          {brain.regime === null ? (
            <Badge>not judged yet</Badge>
          ) : (
            <Badge tone={REGIME_TONES[brain.regime]}>{brain.regime}</Badge>
          )}
        </Stat>
        <Stat
          label="Last cycle"
          note={last?.trigger === undefined || last.trigger === null ? 'none yet' : `by ${last.trigger}`}
        >
          <Time at={brain.last_cycle_at} as="ago" />
        </Stat>
        <Stat label="Judged" note="symbols in the last cycle">
          {convictions.length}
        </Stat>
        <Stat label="Intents" note="of the last cycle">
          {traded}
        </Stat>
        <Stat
          label="Strongest"
          note={
            strongest === undefined
              ? 'nothing judged yet'
              : `conviction ${strongest.effective_conviction.toFixed(1)}`
          }
        >
          {strongest === undefined ? '–' : `${strongest.symbol} ${strongest.direction}`}
        </Stat>
      </dl>
      {last === undefined || last.warnings.length === 0 ? null : (
        <ul
          className="grid gap-1 rounded-md bg-warn-soft px-3 py-2 text-[13px] text-warn"
          aria-label="Warnings"
        >
          {last.warnings.map((warning) => (
            <li key={warning}>
              <Untrusted text={warning} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
