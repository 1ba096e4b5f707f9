import type { ReactNode } from 'react'
import { ApiProblem } from '../api/client.ts'
import { Button, type ButtonLook } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { titleOf } from '../ui/states.tsx'
import { useUrlState } from './use-url-state.ts'

interface FieldFaults {
  /** What the service says of one field. */
  readonly of: (member: string) => string | undefined
  /** What it says of none of them; null if nothing. */
  readonly rest: string | null
}

/** `known`: a refusal that is about one field, though the service names none. */
export const fieldFaults = (
  error: Error | null,
  known: { readonly code: string; readonly member: string; readonly text: string } | null = null,
): FieldFaults => {
  if (!(error instanceof ApiProblem)) {
    return { of: () => undefined, rest: error === null ? null : titleOf(error) }
  }
  const isKnown = error.code === known?.code
  return {
    of: (member) =>
      isKnown && member === known?.member
        ? known.text
        : error.faults.find(({ loc }) => loc.includes(member))?.msg,
    rest: isKnown || error.faults.length > 0 ? null : titleOf(error),
  }
}

interface FormEndProps {
  readonly submitLabel: string
  readonly look?: ButtonLook
  readonly fault: string | null
  readonly isBusy: boolean
  readonly isReady?: boolean
  readonly onCancel: () => void
}

/** What went wrong, and the two ways out of a form. */
export const FormEnd = ({
  submitLabel,
  look = 'primary',
  fault,
  isBusy,
  isReady = true,
  onCancel,
}: FormEndProps) => (
  <>
    {fault === null ? null : (
      <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
        {fault}
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
