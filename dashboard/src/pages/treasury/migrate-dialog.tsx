import { useState, type SyntheticEvent } from 'react'
import type { Treasury } from '../../api/people.ts'
import { FormEnd } from '../../app/form-end.tsx'
import { useAction } from '../../app/use-action.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { formatPercent } from '../../ui/format.ts'
import { titleOf } from '../../ui/states.tsx'

interface MigrateDialogProps {
  readonly treasury: Treasury
  readonly onClose: () => void
}

/** The only way to change a locked wallet: typed anew, with a reason. */
export const MigrateDialog = ({ treasury, onClose }: MigrateDialogProps) => {
  const [address, setAddress] = useState('')
  const [rate, setRate] = useState(String(treasury.percentage))
  const [reason, setReason] = useState('')
  const migrate = useAction<{ address: string; percentage: number; reason: string }, Treasury>({
    request: (body) => ({ path: '/karma/migrate-wallet', body }),
    done: () => 'The wallet is changed',
    after: onClose,
    refreshes: ['karma'],
    quiet: true,
  })
  const percentage = Number(rate)
  const isRate = rate.trim() !== '' && percentage >= 0 && percentage <= 1
  const isReady = address.trim() !== '' && reason.trim() !== '' && isRate
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (!isReady) return
    migrate.mutate({ address: address.trim(), percentage, reason: reason.trim() })
  }
  return (
    <Dialog
      title="Change the wallet?"
      description={`Karma goes to ${treasury.treasury_address} now. The change is signed and stays in the log.`}
      onClose={onClose}
    >
      <form className="grid gap-4" onSubmit={submit}>
        <TextField
          label="New address"
          value={address}
          maxLength={128}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setAddress(event.target.value)}
        />
        <TextField
          label="Rate"
          hint={isRate ? `${formatPercent(percentage)} of the net profit` : undefined}
          fault={isRate ? undefined : 'A share from 0 to 1, such as 0.005'}
          inputMode="decimal"
          value={rate}
          onChange={(event) => setRate(event.target.value)}
        />
        <TextField
          label="Reason"
          hint="Stored in the log"
          value={reason}
          maxLength={500}
          onChange={(event) => setReason(event.target.value)}
        />
        <FormEnd
          submitLabel="Change the wallet"
          look="danger"
          fault={migrate.isError ? titleOf(migrate.error) : null}
          isBusy={migrate.isPending}
          isReady={isReady}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  )
}
