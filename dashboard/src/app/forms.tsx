import { type ReactNode, type SyntheticEvent, useState } from 'react'
import { ApiError } from '../api/client.ts'
import { Button, type ButtonLook } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { titleOf } from '../ui/states.tsx'
import { useUrlState } from './use-url-state.ts'

interface FormErrors {
  /** Error that the service reports about this field. */
  readonly of: (member: string) => string | undefined
  /** Error that belongs to no field; null if there is none. */
  readonly rest: string | null
}

/** Assigns errors to fields. `known`: an error code that is about one field, though the service names none. */
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

interface FormProps {
  readonly submitLabel: string
  readonly look?: ButtonLook
  readonly error?: string | null
  readonly isBusy?: boolean
  readonly isReady?: boolean
  readonly onSubmit: () => void
  readonly onCancel: () => void
  readonly children: ReactNode
}

/** A form in a dialog: fields, the error of the last attempt, cancel and submit. */
export const Form = ({
  submitLabel,
  look = 'primary',
  error = null,
  isBusy = false,
  isReady = true,
  onSubmit,
  onCancel,
  children,
}: FormProps) => {
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (isReady) onSubmit()
  }
  return (
    <form className="grid gap-4" onSubmit={submit}>
      {children}
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
    </form>
  )
}

/** State of a form's inputs, and the props for the input of each member. */
export const useDraft = <Draft extends Readonly<Record<string, string>>>(initial: Draft) => {
  const [draft, setDraft] = useState(initial)
  const input = (member: keyof Draft & string, errors?: FormErrors) => ({
    value: draft[member] ?? '',
    error: errors?.of(member),
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      setDraft({ ...draft, [member]: target.value }),
  })
  return { draft, input }
}

interface RegisterDialogProps {
  readonly title: string
  readonly description: string
  readonly children: (onDone: () => void) => ReactNode
}

/** Dialog that is open while the address has `?form=register`. */
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
