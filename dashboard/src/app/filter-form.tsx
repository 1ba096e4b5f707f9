import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ListFilter, X } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { Button } from '../ui/button.tsx'
import { cx } from '../ui/cx.ts'
import { TextField } from '../ui/field.tsx'
import { formatCount } from '../ui/format.ts'
import { useUrlState } from './use-url-state.ts'

interface FilterFormProps {
  readonly label: string
  /** Path of the page without any filter. */
  readonly path: '/audit' | '/signals'
  /** Number of filters that are set. */
  readonly count: number
  readonly className: string
  readonly children: ReactNode
}

/** Filters of a page: always visible on wide screens, behind a button on narrow ones. */
export const FilterForm = ({ label, path, count, className, children }: FilterFormProps) => {
  const navigate = useNavigate()
  const [isShown, setIsShown] = useState(false)
  return (
    <div className="border-b border-line p-3 max-sm:py-2">
      <Button
        size="small"
        aria-expanded={isShown}
        className="w-full sm:hidden"
        onClick={() => setIsShown(!isShown)}
      >
        <ListFilter className="size-3.5" aria-hidden /> Filters{count === 0 ? '' : ` (${count} set)`}
      </Button>
      <form
        role="search"
        aria-label={label}
        className={cx(
          'grid items-end gap-2',
          !isShown && 'max-sm:hidden',
          isShown && 'max-sm:mt-2',
          className,
        )}
        onSubmit={(event) => event.preventDefault()}
      >
        {children}
        <Button
          look="quiet"
          disabled={count === 0}
          onClick={() => void navigate({ to: path, replace: true })}
        >
          <X className="size-4" aria-hidden /> Clear
        </Button>
      </form>
    </div>
  )
}

const PAUSE_MS = 400

interface UrlFieldProps {
  /** Name of the parameter in the address. */
  readonly name: string
  readonly label: string
  readonly placeholder?: string
  readonly list?: string
}

/** A text filter. It is written into the address once the user stops typing. */
export const UrlField = ({ name, ...field }: UrlFieldProps) => {
  const [value, setValue] = useUrlState(name)
  const [text, setText] = useState(value)
  const latest = useRef({ setValue, sent: value })
  useEffect(() => {
    latest.current.setValue = setValue
  })
  // The address changed by a link or the back button.
  useEffect(() => {
    if (value !== latest.current.sent) setText(value)
    latest.current.sent = value
  }, [value])
  useEffect(() => {
    const wanted = text.trim()
    if (wanted === latest.current.sent) return
    const timer = setTimeout(() => {
      latest.current.sent = wanted
      latest.current.setValue(wanted)
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <TextField
      {...field}
      value={text}
      maxLength={256}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => setText(event.target.value)}
    />
  )
}

/** A time in the viewer's zone. The address holds UTC. */
export const UrlTimeField = ({ name, label }: Pick<UrlFieldProps, 'name' | 'label'>) => {
  const [value, setValue] = useUrlState(name)
  return (
    <TextField
      label={label}
      type="datetime-local"
      step={1}
      value={localText(value)}
      onChange={(event) => {
        const time = new Date(event.target.value)
        setValue(Number.isNaN(time.getTime()) ? '' : time.toISOString())
      }}
    />
  )
}

/** Time in the format of the input: local time without a zone. */
const localText = (iso: string): string => {
  const time = new Date(iso)
  if (iso === '' || Number.isNaN(time.getTime())) return ''
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

const HEIGHT_PX_MIN = 300

const subscribe = (listener: () => void): (() => void) => {
  addEventListener('resize', listener)
  return () => removeEventListener('resize', listener)
}

/** Height of the window minus `takenPx`, for lists that fill the page. */
export const useRemainingPx = (takenPx: number): number =>
  useSyncExternalStore(subscribe, () => Math.max(HEIGHT_PX_MIN, innerHeight - takenPx))

interface ListEndProps {
  readonly count: number
  readonly noun: string
  readonly query: Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>
  /** True if no further items can be loaded. */
  readonly isFull?: boolean
}

/** Number of listed items, and a button that loads older ones. */
export const ListEnd = ({ count, noun, query, isFull = false }: ListEndProps) => (
  <footer className="flex min-h-9 flex-wrap items-center justify-between gap-2 border-t border-line px-3 py-1 text-xs text-muted">
    <span>
      {formatCount(count)} {count === 1 ? noun : `${noun}s`}
      {query.hasNextPage ? '' : ' in total'}
    </span>
    {query.hasNextPage ? (
      <Button
        size="small"
        busy={query.isFetchingNextPage}
        disabled={isFull}
        onClick={() => void query.fetchNextPage()}
      >
        Older {noun}s
      </Button>
    ) : null}
  </footer>
)
