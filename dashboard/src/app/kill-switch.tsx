import { useQuery } from '@tanstack/react-query'
import { OctagonX, ShieldCheck } from 'lucide-react'
import { api, NoAnswerError } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { useConnectionStatus } from '../live/live.ts'
import { Button } from '../ui/button.tsx'
import { cx } from '../ui/cx.ts'
import { Dialog } from '../ui/dialog.tsx'
import { formatReason } from '../ui/format.ts'
import { titleOf } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { Untrusted } from '../ui/untrusted.tsx'
import { createPrompt } from './prompts.tsx'
import { useAction } from './use-action.ts'

interface Level {
  readonly level: number
  readonly name: string
  readonly effect: string
}

export const LEVELS: readonly Level[] = [
  { level: 0, name: 'Normal', effect: 'No restrictions' },
  { level: 1, name: 'Caution', effect: 'Trading continues with warnings; manual cycles are refused' },
  { level: 2, name: 'Crisis', effect: 'No new positions; exits continue' },
  { level: 3, name: 'Lockdown', effect: 'No trades except by an operator' },
]

const LOOKS: Readonly<Record<number, string>> = {
  0: 'bg-good-soft text-good',
  1: 'bg-warn-soft text-warn',
  2: 'bg-bad-soft text-bad',
  3: 'bg-bad text-panel',
}

/** Time limit of a request that moves the kill switch. An operator must not wait longer. */
const ANSWER_SECONDS_MAX = 10

/** Raising needs a confirmation; lowering needs a reason and a typed word. */
const useKillSwitch = (from: number | null) =>
  useAction({
    send: async ({ level }: Level, headers, reason) => {
      const signal = AbortSignal.timeout(ANSWER_SECONDS_MAX * 1000)
      try {
        // The level shown here may be outdated: a raise must not lower a level that was raised further meanwhile.
        const body = { level, reason, raise_only: isRaiseTo(level, from) }
        return await api.POST('/kill-switch', { body, headers, signal })
      } catch (error) {
        if (!(error instanceof NoAnswerError)) throw error
        throw new NoAnswerError(
          `No answer within ${ANSWER_SECONDS_MAX} s. The kill switch may be at ${level} or not: try again, ` +
            `or use svc kill-switch set on the machine of the service.`,
        )
      }
    },
    confirms: ({ level, name, effect }) => {
      const isRaise = isRaiseTo(level, from)
      return {
        title: `${isRaise ? 'Raise' : 'Lower'} the kill switch to ${level}, ${name.toLowerCase()}?`,
        text: `${effect}. ${from === null ? 'Where it is now is not known.' : `It is at ${from} now.`}`,
        confirmLabel: isRaise ? `Raise to ${level}` : `Lower to ${level}`,
        look: isRaise ? 'danger' : 'primary',
        reason: { suggestion: isRaise ? 'raised on the dashboard' : '' },
        ...(isRaise ? {} : { word: 'LOWER' }),
      }
    },
    done: ({ level, state }, asked) =>
      level === asked.level
        ? `Kill switch is at ${level}, ${state}`
        : `Kill switch stays at ${level}, ${state}: it was raised further meanwhile`,
    after: () => panel.answer(null),
    refreshes: ['kill-switch', 'brain-status'],
  })

/** True if the move may be a raise. From an unknown level, every level above the lowest may be one. */
const isRaiseTo = (level: number, from: number | null): boolean => level > (from ?? 0)

const panel = createPrompt<true, never>()

/** Opens the dialog from the palette, the keyboard or the chip. */
export const openKillSwitch = (): void => {
  panel.ask(true).catch(() => undefined)
}

/** Shows the level as a number and a word, on every page. */
export const KillSwitchChip = ({ isLarge = false }: { readonly isLarge?: boolean }) => {
  const { data, isError } = useQuery(queries.brainStatus())
  const isStale = useConnectionStatus() !== 'live' || isError
  const level = data?.kill_switch_level
  const words = LEVELS.find((one) => one.level === level)
  const Icon = level === 0 ? ShieldCheck : OctagonX
  return (
    <button
      type="button"
      onClick={openKillSwitch}
      title={isStale ? 'Last known level' : formatReason(data?.kill_switch_reason ?? '')}
      data-stale={isStale}
      className={cx(
        'inline-flex items-center justify-center gap-1.5 rounded-md font-semibold',
        isLarge ? 'h-13 min-w-15 flex-col gap-0 px-1 text-[11px] leading-tight' : 'h-8 px-2 text-xs',
        level === undefined || isStale ? 'bg-raised text-muted' : LOOKS[level],
      )}
    >
      <Icon className="size-4" aria-hidden />
      <span>
        <span className="sr-only">Kill switch </span>L{level ?? '?'} {words?.name}
      </span>
    </button>
  )
}

export const KillSwitchDialog = () => {
  const isOpen = panel.useQuestion() !== null
  if (!isOpen) return null
  return (
    <Dialog
      title="Kill switch"
      description="Raised automatically or by an operator, lowered only by an operator."
      onClose={() => panel.answer(null)}
    >
      <KillSwitchLevels />
    </Dialog>
  )
}

/** The known level: from its own query, or from the status that every page reads. */
const useKnownLevel = () => {
  const own = useQuery(queries.killSwitch())
  const other = useQuery(queries.brainStatus())
  // The newer one counts. Only the other query runs on every page, and either may have failed since.
  if (own.data !== undefined && own.dataUpdatedAt >= other.dataUpdatedAt) {
    return { ...own.data, isOld: own.isError }
  }
  if (other.data === undefined) return { level: null, reason: null, changed_at: null, isOld: false }
  const { kill_switch_level, kill_switch_reason, kill_switch_changed_at } = other.data
  return {
    level: kill_switch_level,
    reason: kill_switch_reason,
    changed_at: kill_switch_changed_at,
    isOld: other.isError,
  }
}

/** Buttons of all levels. They work before any response arrives, so that raising the kill switch is never delayed. */
export const KillSwitchLevels = () => {
  const { level: known, reason, changed_at, isOld } = useKnownLevel()
  const isStale = useConnectionStatus() !== 'live' || isOld
  const change = useKillSwitch(known)
  return (
    <div className="grid gap-3">
      {known === null ? (
        <p className="text-sm text-warn">The level is not known yet. It can be raised all the same.</p>
      ) : isStale ? (
        <p className="text-sm text-warn">Last known level: {known}. It may have changed.</p>
      ) : null}
      {reason === null ? null : (
        <p className="text-sm text-muted">
          Since <Time at={changed_at} as="ago" />: <Untrusted text={formatReason(reason)} />
        </p>
      )}
      {change.error === null ? null : (
        <p role="alert" className="rounded-md bg-bad-soft px-2.5 py-2 text-sm text-bad">
          {titleOf(change.error)}
        </p>
      )}
      <ol className="grid gap-2">
        {LEVELS.map((words) => (
          <li
            key={words.level}
            aria-current={words.level === known}
            className={cx(
              'flex items-center justify-between gap-3 rounded-lg border p-2.5',
              words.level === known ? 'border-accent' : 'border-line',
            )}
          >
            <div className="min-w-0">
              <p className="flex items-center gap-2 font-semibold">
                <span className={cx('rounded px-1.5 text-xs', LOOKS[words.level])}>{words.level}</span>
                {words.name}
              </p>
              <p className="text-xs text-muted">{words.effect}</p>
            </div>
            {words.level === known ? (
              <span className="text-xs font-medium text-accent">{isStale ? 'last known' : 'current'}</span>
            ) : (
              <Button
                look={isRaiseTo(words.level, known) ? 'danger' : 'plain'}
                busy={change.isPending}
                onClick={() => change.run(words)}
              >
                {isRaiseTo(words.level, known) ? 'Raise' : 'Lower'}
              </Button>
            )}
          </li>
        ))}
      </ol>
    </div>
  )
}
