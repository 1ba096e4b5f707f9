import type { UseQueryResult } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import { type ReactNode, useState } from 'react'
import { cx } from './cx.ts'
import { DataAge, QueryContent } from './panel.tsx'

/** A dialog is open as long as it is mounted. */
interface DialogProps {
  readonly title: string
  readonly description?: string
  readonly onClose: () => void
  /** `sheet`: opens from the side, for details. The page behind it stays readable. */
  readonly form?: 'centre' | 'sheet'
  readonly children: ReactNode
}

/**
 * On a phone a sheet is as wide as the screen. It leaves the bars above and below it visible, with level and regime.
 */
const BETWEEN_BARS = 'max-md:top-12 max-md:bottom-[calc(3.75rem+env(safe-area-inset-bottom))]'

/**
 * Replaces Radix's own overlay, which writes a style element into the page. The content security policy forbids that.
 */
export const Dialog = ({ title, description, onClose, form = 'centre', children }: DialogProps) => {
  // Read before an element inside takes the focus.
  const [opener] = useState(() => document.activeElement)
  return (
    <Radix.Root open onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Radix.Portal>
        <div className={cx('fixed inset-0 z-40 bg-black/45', form === 'sheet' && BETWEEN_BARS)} aria-hidden />
        <Radix.Content
          onInteractOutside={(event) => {
            if (keepsOpen(event.currentTarget, event.target)) event.preventDefault()
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            returnFocusTo(opener)
          }}
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          className={cx(
            'fixed z-50 flex flex-col overflow-hidden border border-line bg-panel shadow-xl outline-none',
            form === 'centre' &&
              'top-1/2 left-1/2 max-h-[88dvh] w-[min(30rem,calc(100vw-1.5rem))] -translate-x-1/2 -translate-y-1/2 rounded-xl',
            form === 'sheet' &&
              `inset-y-0 right-0 w-[min(40rem,100vw)] border-y-0 border-r-0 ${BETWEEN_BARS}`,
          )}
        >
          <header className="flex items-center justify-between gap-3 border-b border-line px-4 py-3">
            <div className="min-w-0">
              <Radix.Title className="text-base font-semibold wrap-anywhere">{title}</Radix.Title>
              {description === undefined ? null : (
                <Radix.Description className="mt-0.5 text-sm text-muted">{description}</Radix.Description>
              )}
            </div>
            <Radix.Close
              className="grid size-8 shrink-0 place-items-center rounded-md text-muted hover:bg-raised hover:text-text"
              aria-label="Close"
            >
              <X className="size-4" aria-hidden />
            </Radix.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto p-4">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/**
 * True if a press outside must not close the dialog: it has a form, whose input would be lost, or the press was on a
 * message.
 */
const keepsOpen = (dialog: EventTarget | null, target: EventTarget | null): boolean =>
  (dialog instanceof Element && dialog.querySelector('form') !== null) ||
  (target instanceof Element && target.closest('[data-toasts]') !== null)

interface QuerySheetProps<Data> extends Omit<DialogProps, 'form' | 'children'> {
  readonly query: UseQueryResult<Data>
  readonly what: string
  /** True if the content changes, so that the sheet shows its age. */
  readonly hasAge?: boolean
  readonly children: (data: Data) => ReactNode
}

/** A sheet with the details of one item. */
export const QuerySheet = <Data,>({
  query,
  what,
  hasAge = false,
  children,
  ...dialog
}: QuerySheetProps<Data>) => (
  <Dialog {...dialog} form="sheet">
    {hasAge ? (
      <p className="mb-3 text-xs empty:hidden">
        <DataAge query={query} />
      </p>
    ) : null}
    <QueryContent query={query} what={what}>
      {children}
    </QueryContent>
  </Dialog>
)

/** The last focused element outside of dialogs. */
let lastOutside: HTMLElement | null = null

document.addEventListener('focusin', ({ target }) => {
  if (target instanceof HTMLElement && target.closest('[role="dialog"]') === null) lastOutside = target
})

/** Returns the focus to the opener of a dialog, or to the last element outside of dialogs. */
const returnFocusTo = (opener: Element | null): void => {
  const target = opener instanceof HTMLElement && opener.isConnected ? opener : lastOutside
  if (target?.isConnected === true) target.focus({ preventScroll: true })
}
