import type { ReactNode } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { useUrlState } from './use-url-state.ts'

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
