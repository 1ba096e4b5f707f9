import type { ReactNode } from 'react'
import { Copy } from 'lucide-react'
import { shortId } from './format.ts'
import { toast } from './toast.tsx'

/** An id, short enough to read, whole on hover and in the clipboard. */
export const Id = ({ id, whole = false }: { readonly id: string; readonly whole?: boolean }) => (
  <span className="inline-flex max-w-full items-center gap-1">
    <code title={id} className={whole ? 'break-all' : 'whitespace-nowrap'}>
      {whole ? id : shortId(id)}
    </code>
    <button
      type="button"
      aria-label={`Copy ${id}`}
      className="tap shrink-0 rounded p-0.5 text-muted hover:text-text"
      onClick={(event) => {
        event.stopPropagation()
        void copy(id)
      }}
    >
      <Copy className="size-3" aria-hidden />
    </button>
  </span>
)

const copy = async (text: string): Promise<void> => {
  try {
    // Browsers offer it only over HTTPS and on this machine.
    await navigator.clipboard.writeText(text)
    toast('Copied')
  } catch {
    toast('The browser did not allow copying', 'warn')
  }
}

/** Name and value pairs of a detail; undefined values are left out. */
export const Facts = ({ facts }: { readonly facts: Readonly<Record<string, ReactNode>> }) => (
  <dl className="grid grid-cols-[minmax(7rem,auto)_1fr] content-start gap-x-4 gap-y-1.5 text-[13px]">
    {Object.entries(facts)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 wrap-anywhere">{value}</dd>
        </div>
      ))}
  </dl>
)
