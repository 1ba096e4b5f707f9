import { Dialog } from '../ui/dialog.tsx'
import { PAGES } from './navigation.ts'

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['Ctrl K', 'Commands'],
  ['?', 'This help'],
  ['k', 'Kill switch'],
  ...PAGES.map(({ key, label }) => [`g ${key}`, label] as const),
  ['↑ ↓', 'From row to row of a list; Enter opens it'],
  ['Esc', 'Close what is open'],
]

export const HelpDialog = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title="Keyboard" onClose={onClose}>
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2 text-sm">
      {KEYS.map(([keys, what]) => (
        <div key={keys} className="contents">
          <dt>
            <kbd className="rounded border border-line bg-raised px-1.5 py-0.5">{keys}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
)
