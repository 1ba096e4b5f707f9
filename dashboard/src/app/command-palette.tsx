import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useState } from 'react'
import { api } from '../api/client.ts'
import { cx } from '../ui/cx.ts'
import { Dialog } from '../ui/dialog.tsx'
import { inputClass } from '../ui/field.tsx'
import { toast } from '../ui/toast.tsx'
import { signOut } from './connection.tsx'
import { openKillSwitch } from './kill-switch.tsx'
import { PAGES } from './navigation.ts'
import { switchTheme } from './theme.ts'
import { useAction } from './use-action.ts'

/** Type a few letters, press Enter. */
export const CommandPalette = ({ onClose }: { readonly onClose: () => void }) => {
  const commands = useCommands()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const found = commands.filter(({ label }) => matches(label, text))
  const active = Math.min(chosen, found.length - 1)
  const run = (command: Command | undefined): void => {
    if (command === undefined) return
    onClose()
    command.run()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setChosen((active + step + found.length) % Math.max(1, found.length))
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      run(found[active])
    }
  }
  return (
    <Dialog title="Commands" onClose={onClose}>
      <input
        role="combobox"
        aria-label="Command"
        aria-expanded
        aria-controls="palette"
        aria-activedescendant={found[active] === undefined ? undefined : `palette-${active}`}
        autoFocus
        placeholder="Go to, run, switch …"
        className={inputClass}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="palette" role="listbox" aria-label="Commands" className="mt-3 grid gap-0.5">
        {found.map((command, index) => (
          <li
            key={command.label}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === active}
            onClick={() => run(command)}
            onMouseMove={() => setChosen(index)}
            className={cx(
              'flex cursor-pointer items-center justify-between rounded-md px-2.5 py-2 text-sm',
              index === active && 'bg-accent-soft',
            )}
          >
            {command.label}
            {command.hint === '' ? null : <kbd className="text-xs text-muted">{command.hint}</kbd>}
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p className="px-2 py-4 text-sm text-muted">No matching command.</p> : null}
    </Dialog>
  )
}

/** All words in any order. */
const matches = (label: string, text: string): boolean =>
  text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => label.toLowerCase().includes(word))

interface Command {
  readonly label: string
  readonly hint: string
  readonly run: () => void
}

export const useRunCycle = () =>
  useAction({
    send: (_input: void, headers) => api.POST('/brain/run', { headers }),
    done: ({ intents }) => `Cycle done: ${intents.length === 1 ? '1 intent' : `${intents.length} intents`}`,
    refreshes: ['brain-status', 'intents'],
  })

/** The commands of every page. */
const useCommands = (): readonly Command[] => {
  const navigate = useNavigate()
  const cycle = useRunCycle()
  return [
    ...PAGES.map(({ path, label, key }) => ({
      label: `Go to ${label}`,
      hint: `g ${key}`,
      run: () => void navigate({ to: path }),
    })),
    { label: 'Kill switch', hint: 'k', run: openKillSwitch },
    { label: 'Run a brain cycle now', hint: '', run: () => cycle.run() },
    { label: 'Switch theme', hint: '', run: () => toast(`Theme: ${switchTheme()}`) },
    { label: 'Sign out', hint: '', run: signOut },
  ]
}
