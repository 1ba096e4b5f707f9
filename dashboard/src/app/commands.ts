import { useNavigate } from '@tanstack/react-router'
import type { CycleResult } from '../api/trading.ts'
import { toast } from '../ui/toast.tsx'
import { openKillSwitch } from './kill-switch.tsx'
import { PAGES } from './navigation.ts'
import { signOut } from './sign-out.ts'
import { switchTheme } from './theme.ts'
import { useAction } from './use-action.ts'

export interface Command {
  readonly label: string
  readonly hint: string
  readonly run: () => void
}

export const useRunCycle = () =>
  useAction<void, CycleResult>({
    request: () => ({ path: '/brain/run' }),
    done: ({ intents }) => `Cycle done: ${intents.length === 1 ? '1 intent' : `${intents.length} intents`}`,
    refreshes: ['brain-status', 'intents'],
  })

/** Everything that can be done from anywhere. */
export const useCommands = (): readonly Command[] => {
  const navigate = useNavigate()
  const cycle = useRunCycle()
  return [
    ...PAGES.map(({ path, label, key }) => ({
      label: `Go to ${label}`,
      hint: `g ${key}`,
      run: () => void navigate({ to: path }),
    })),
    { label: 'Kill switch', hint: 'k', run: openKillSwitch },
    { label: 'Run a brain cycle now', hint: '', run: () => cycle.mutate() },
    { label: 'Switch theme', hint: '', run: () => toast(`Theme: ${switchTheme()}`) },
    { label: 'Sign out', hint: '', run: signOut },
  ]
}
