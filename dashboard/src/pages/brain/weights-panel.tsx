import { useQuery } from '@tanstack/react-query'
import { ApiProblem } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { LearnedWeights, LearningRun } from '../../api/trading.ts'
import { confirm } from '../../app/confirm.tsx'
import { useAction } from '../../app/use-action.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { formatWords } from '../../ui/format.ts'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { useCycles, type Cycle } from './cycles.ts'
import { WeightLines, type WeightPoint } from './weight-lines.tsx'

/** How much each domain counts, now and before. */
export const WeightsPanel = ({ className = '' }: { readonly className?: string }) => {
  const learned = useQuery(queries.weights())
  if (learned.error instanceof ApiProblem && learned.error.status === 404) {
    return <WeightsOfCycles className={className} />
  }
  return (
    <QueryPanel title="Weights of the domains" className={className} query={learned} actions={<LearnNow />}>
      {(weights) => (
        <div className="grid gap-4">
          <p className="flex flex-wrap items-center gap-2 text-xs text-muted">
            <Badge tone={weights.origin === 'learned' ? 'accent' : 'neutral'}>
              {weights.origin === 'learned' ? `learned, version ${weights.version}` : 'as configured'}
            </Badge>
            <span>
              next run <Time at={weights.next_run_at} as="ago" />
            </span>
          </p>
          <WeightLines points={pointsOf(weights)} configured={weights.configured_weights} />
          <Runs runs={weights.history} />
        </div>
      )}
    </QueryPanel>
  )
}

const LearnNow = () => {
  const learn = useAction<void, LearningRun>({
    request: () => ({ path: '/learning/run' }),
    done: ({ applied, reason }) => (applied ? 'Weights moved' : `Weights stay: ${formatWords(reason)}`),
    refreshes: ['learning'],
  })
  const ask = async (): Promise<void> => {
    const answer = await confirm({
      title: 'Learn from closed trades now?',
      text: 'What otherwise happens on schedule. Weights move by a small step, or stay if there is too little to learn from.',
      confirmLabel: 'Learn now',
    })
    if (answer !== null) learn.mutate()
  }
  return (
    <Button size="small" busy={learn.isPending} onClick={() => void ask()}>
      Learn now
    </Button>
  )
}

const Runs = ({ runs }: { readonly runs: readonly LearningRun[] }) =>
  runs.length === 0 ? (
    <p className="text-xs text-muted">No learning run yet: the weights are the configured ones.</p>
  ) : (
    <ul className="grid max-h-48 overflow-y-auto" aria-label="Learning runs" tabIndex={0}>
      {runs.map(({ id, at, applied, reason, observations, trigger }) => (
        <li
          key={id}
          className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1 border-b border-line py-1.5 text-[13px] last:border-0"
        >
          <span className="flex items-center gap-2">
            <Badge tone={applied ? 'accent' : 'neutral'}>{formatWords(reason)}</Badge>
            <span className="text-xs text-muted">
              {observations === 1 ? '1 closed trade' : `${observations} closed trades`}, by {trigger}
            </span>
          </span>
          <span className="text-xs text-muted">
            <Time at={at} />
          </span>
        </li>
      ))}
    </ul>
  )

/** Oldest first. */
const pointsOf = ({ history, weights }: LearnedWeights): readonly WeightPoint[] => {
  const runs = history.toReversed()
  const [first] = runs
  return [
    ...(first === undefined ? [] : [{ ts: first.at, weights: first.previous_weights }]),
    ...runs.map(({ at, new_weights }) => ({ ts: at, weights: new_weights })),
    { ts: null, weights },
  ]
}

/** A service that does not learn still tells with every cycle which weights it used. */
const WeightsOfCycles = ({ className }: { readonly className: string }) => {
  const { query, cycles } = useCycles()
  return (
    <QueryPanel title="Weights of the domains" className={className} query={query}>
      {() =>
        cycles.length === 0 ? (
          <Empty title="Not known yet">Every cycle tells which weights it used.</Empty>
        ) : (
          <div className="grid gap-3">
            <WeightLines points={usedIn(cycles)} configured={null} />
            <p className="text-xs text-muted">
              As used by the newest {cycles.length} cycles. This service keeps no history of learned weights.
            </p>
          </div>
        )
      }
    </QueryPanel>
  )
}

const usedIn = (cycles: readonly Cycle[]): readonly WeightPoint[] =>
  cycles.toReversed().map(({ ts, weights }) => ({ ts, weights }))
