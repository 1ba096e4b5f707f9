import { X } from 'lucide-react'
import type { Tone } from './badge.tsx'
import { cx } from './cx.ts'
import { createStore } from './store.ts'

interface Toast {
  readonly id: number
  readonly tone: Tone
  readonly text: string
}

const SHOWN_MAX = 4
const SHOWN_MS = 6000

const toasts = createStore<readonly Toast[]>([])
let nextId = 1

const dismiss = (id: number): void => toasts.set(toasts.get().filter((toast) => toast.id !== id))

/**
 * A short message about a result. An error stays until the user dismisses it, because the request was not carried out.
 */
export const toast = (text: string, tone: Tone = 'neutral'): void => {
  const id = nextId
  nextId += 1
  toasts.set(withoutSurplus([...toasts.get().filter((known) => known.text !== text), { id, tone, text }]))
  if (tone !== 'bad') setTimeout(() => dismiss(id), SHOWN_MS)
}

/** The oldest goes, and an error last. */
const withoutSurplus = (shown: readonly Toast[]): readonly Toast[] => {
  if (shown.length <= SHOWN_MAX) return shown
  const gone = shown.slice(0, -1).find(({ tone }) => tone !== 'bad') ?? shown[0]
  return shown.filter((one) => one !== gone)
}

const EDGES: Readonly<Record<Tone, string>> = {
  neutral: 'border-l-muted',
  accent: 'border-l-accent',
  good: 'border-l-good',
  warn: 'border-l-warn',
  bad: 'border-l-bad',
}

export const Toasts = () => {
  return (
    <div
      role="status"
      aria-live="polite"
      data-toasts
      className="pointer-events-none fixed right-3 bottom-20 z-50 grid w-[min(24rem,calc(100vw-1.5rem))] gap-2 md:bottom-4"
    >
      {toasts.use().map(({ id, tone, text }) => (
        <div
          key={id}
          role={tone === 'bad' ? 'alert' : undefined}
          className={cx(
            'pointer-events-auto flex items-start justify-between gap-2 rounded-md border border-l-4 border-line bg-panel p-3 text-sm shadow-lg',
            EDGES[tone],
          )}
        >
          <span className="min-w-0 wrap-anywhere">{text}</span>
          <button type="button" aria-label="Dismiss" onClick={() => dismiss(id)} className="text-muted">
            <X className="size-4" aria-hidden />
          </button>
        </div>
      ))}
    </div>
  )
}
