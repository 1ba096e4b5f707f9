import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import { Button, type ButtonLook } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { titleOf } from '../ui/states.tsx'
import { useUrlState } from './use-url-state.ts'

interface FormErrors {
  /** What the service reports about one field. */
  readonly of: (member: string) => string | undefined
  /** What it reports about none of them; null if nothing. */
  readonly rest: string | null
}

/** `known`: an error code that is about one field, though the service names none. */
export const formErrors = (
  error: Error | null,
  known: { readonly code: string; readonly member: string; readonly text: string } | null = null,
): FormErrors => {
  if (!(error instanceof ApiError)) {
    return { of: () => undefined, rest: error === null ? null : titleOf(error) }
  }
  const isKnown = error.code === known?.code
  return {
    of: (member) =>
      isKnown && member === known?.member
        ? known.text
        : error.fieldErrors.find(({ loc }) => loc.includes(member))?.msg,
    rest: isKnown || error.fieldErrors.length > 0 ? null : titleOf(error),
  }
}

interface FormEndProps {
  readonly submitLabel: string
  readonly look?: ButtonLook
  readonly error: string | null
  readonly isBusy: boolean
  readonly isReady?: boolean
  readonly onCancel: () => void
}

/** Error, cancel and submit of a form. */
export const FormEnd = ({
  submitLabel,
  look = 'primary',
  error,
  isBusy,
  isReady = true,
  onCancel,
}: FormEndProps) => (
  <>
    {error === null ? null : (
      <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
        {error}
      </p>
    )}
    <div className="flex justify-end gap-2">
      <Button onClick={onCancel}>Cancel</Button>
      <Button type="submit" look={look} busy={isBusy} disabled={!isReady}>
        {submitLabel}
      </Button>
    </div>
  </>
)

interface RegisterDialogProps {
  readonly title: string
  readonly description: string
  readonly children: (onDone: () => void) => ReactNode
}

/** Open while the address says `?form=register`. */
export const RegisterDialog = ({ title, description, children }: RegisterDialogProps) => {
  const [form, setForm] = useUrlState('form')
  if (form !== 'register') return null
  const close = (): void => setForm('')
  return (
    <Dialog title={title} description={description} onClose={close}>
      {children(close)}
    </Dialog>
  )
}
