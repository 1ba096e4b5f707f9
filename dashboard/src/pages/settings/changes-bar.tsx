import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import type { Check, Draft } from './draft.ts'

export const RestartNote = ({ keys }: { readonly keys: readonly string[] }) =>
  keys.length === 0 ? null : (
    <p role="status" className="rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn">
      Restart the service to apply: <code className="wrap-anywhere">{keys.join(', ')}</code>.
    </p>
  )

interface ChangesBarProps {
  readonly draft: Draft
  readonly check: Check
  readonly onReview: () => void
  readonly onDiscard: () => void
}

const WORDS: Readonly<Record<Check['status'], readonly [tone: Tone, text: string]>> = {
  unchanged: ['neutral', 'nothing to save'],
  checking: ['neutral', 'checking …'],
  valid: ['good', 'valid'],
  invalid: ['bad', 'not valid'],
  failed: ['bad', 'could not be checked'],
}

/** Visible while there are unsaved changes. */
export const ChangesBar = ({ draft, check, onReview, onDiscard }: ChangesBarProps) => {
  if (draft.size === 0) return null
  const [tone, text] = WORDS[check.status]
  const isElsewhere = check.errors.filter(({ loc }) => !draft.has(loc.slice(1).join('.')))
  return (
    <div
      role="region"
      aria-label="Unsaved changes"
      className="sticky bottom-18 z-20 flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-accent bg-panel px-3 py-2 shadow-lg md:bottom-3"
    >
      <strong className="text-sm font-semibold">
        {draft.size} unsaved {draft.size === 1 ? 'change' : 'changes'}
      </strong>
      <span role="status">
        <Badge tone={tone}>{text}</Badge>
      </span>
      <div className="ml-auto flex gap-2">
        <Button onClick={onDiscard}>Discard</Button>
        <Button look="primary" disabled={check.status !== 'valid'} onClick={onReview}>
          Review and save
        </Button>
      </div>
      {isElsewhere.length === 0 ? null : (
        <ul className="basis-full text-xs text-bad">
          {isElsewhere.map(({ loc, msg }) => (
            <li key={loc.join('.')}>
              <code>{loc.slice(1).join('.')}</code>: {msg}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
