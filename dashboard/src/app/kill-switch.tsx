import { useQuery } from '@tanstack/react-query'
import { OctagonX, ShieldCheck } from 'lucide-react'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { Button } from '../ui/button.tsx'
import { cx } from '../ui/cx.ts'
import { Dialog } from '../ui/dialog.tsx'
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

/** Raising needs a confirmation; lowering needs a reason and a typed word. */
const useKillSwitch = (from: number) =>
  useAction({
    send: ({ level }: Level, headers, reason) => {
      panel.answer(null)
      return api.POST('/kill-switch', { body: { level, reason }, headers })
    },
    confirms: ({ level, name, effect }) => {
      const isRaise = level > from
      return {
        title: `${isRaise ? 'Raise' : 'Lower'} the kill switch to ${level}, ${name.toLowerCase()}?`,
        text: `${effect}. It is at ${from} now.`,
        confirmLabel: isRaise ? `Raise to ${level}` : `Lower to ${level}`,
        look: isRaise ? 'danger' : 'primary',
        reason: { suggestion: isRaise ? 'raised on the dashboard' : '' },
        ...(isRaise ? {} : { word: 'LOWER' }),
      }
    },
    done: ({ level, state }) => `Kill switch is at ${level}, ${state}`,
    refreshes: ['kill-switch', 'brain-status'],
  })

const panel = createPrompt<true, never>()

/** From the palette, the keyboard and the chip. */
export const openKillSwitch = (): void => {
  panel.ask(true).catch(() => undefined)
}

/** The level as a number and a word, visible on every page. */
export const KillSwitchChip = ({ isLarge = false }: { readonly isLarge?: boolean }) => {
  const { data } = useQuery(queries.brainStatus())
  const level = data?.kill_switch_level
  const words = LEVELS.find((one) => one.level === level)
  const Icon = level === 0 ? ShieldCheck : OctagonX
  return (
    <button
      type="button"
      onClick={openKillSwitch}
      title={data?.kill_switch_reason ?? undefined}
      className={cx(
        'inline-flex items-center justify-center gap-1.5 rounded-md font-semibold',
        isLarge ? 'h-13 min-w-15 flex-col gap-0 px-1 text-[11px] leading-tight' : 'h-8 px-2 text-xs',
        level === undefined ? 'bg-raised text-muted' : LOOKS[level],
      )}
    >
      <Icon className={isLarge ? 'size-5' : 'size-4'} aria-hidden />
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

export const KillSwitchLevels = () => {
  const { data } = useQuery(queries.killSwitch())
  const change = useKillSwitch(data?.level ?? 0)
  if (data === undefined) return <p className="text-muted">Loading the level …</p>
  return (
    <div className="grid gap-3">
      {data.reason === null ? null : (
        <p className="text-sm text-muted">
          Since <Time at={data.changed_at} as="ago" />: <Untrusted text={data.reason} />
        </p>
      )}
      <ol className="grid gap-2">
        {LEVELS.map((words) => (
          <li
            key={words.level}
            aria-current={words.level === data.level}
            className={cx(
              'flex items-center justify-between gap-3 rounded-lg border p-2.5',
              words.level === data.level ? 'border-accent' : 'border-line',
            )}
          >
            <div className="min-w-0">
              <p className="flex items-center gap-2 font-semibold">
                <span className={cx('rounded px-1.5 text-xs', LOOKS[words.level])}>{words.level}</span>
                {words.name}
              </p>
              <p className="text-xs text-muted">{words.effect}</p>
            </div>
            {words.level === data.level ? (
              <span className="text-xs font-medium text-accent">current</span>
            ) : (
              <Button
                look={words.level > data.level ? 'danger' : 'plain'}
                busy={change.isPending}
                onClick={() => change.run(words)}
              >
                {words.level > data.level ? 'Raise' : 'Lower'}
              </Button>
            )}
          </li>
        ))}
      </ol>
    </div>
  )
}
