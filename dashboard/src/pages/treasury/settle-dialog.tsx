import { useQuery } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import { ApiProblem } from '../../api/client.ts'
import type { KarmaIntent, KarmaReceipt } from '../../api/people.ts'
import { queries } from '../../api/queries.ts'
import { FormEnd } from '../../app/form-end.tsx'
import { useAction } from '../../app/use-action.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Facts, Id } from '../../ui/id.tsx'
import { titleOf } from '../../ui/states.tsx'
import { formatKarma } from './karma-amount.tsx'

interface Settlement {
  readonly receipt: KarmaReceipt
  readonly skipped: readonly { readonly id: string; readonly reason: string }[]
}

interface SettleDialogProps {
  readonly intents: readonly KarmaIntent[]
  readonly onClose: () => void
}

/** Records that these were paid. Paying is somebody else's work: the service moves no money. */
export const SettleDialog = ({ intents, onClose }: SettleDialogProps) => {
  const { data: treasury } = useQuery(queries.treasury())
  const [txHash, setTxHash] = useState('')
  const settle = useAction<
    { readonly intent_ids: readonly string[]; readonly tx_hash: string | null },
    Settlement
  >({
    request: (body) => ({ path: '/karma/settle', body }),
    done: ({ receipt, skipped }) =>
      `Settled ${formatKarma(receipt.total_usd)}${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`,
    after: onClose,
    refreshes: ['karma', 'scores'],
    quiet: true,
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    const hash = txHash.trim()
    settle.mutate({ intent_ids: intents.map(({ id }) => id), tx_hash: hash === '' ? null : hash })
  }
  const total = intents.reduce((sum, { karma_amount_usd: amount }) => sum + amount, 0)
  const address = treasury?.treasury_address ?? ''
  return (
    <Dialog
      title={`Settle ${formatKarma(total)}?`}
      description="Writes a signed receipt into the log. The service moves no money: pay first, then record it."
      onClose={onClose}
    >
      <form className="grid gap-4" onSubmit={submit}>
        <Facts
          facts={[
            ['Intents', intents.length],
            ['Mode', intents[0]?.mode ?? ''],
            ['To', address === '' ? 'no address is set' : <Id key="address" id={address} whole />],
          ]}
        />
        <TextField
          label="Transaction"
          hint="Its hash, if it was paid on chain. Without one the receipt stays pending."
          value={txHash}
          maxLength={256}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setTxHash(event.target.value)}
        />
        <FormEnd
          submitLabel="Settle"
          fault={settle.isError ? faultOf(settle.error) : null}
          isBusy={settle.isPending}
          isReady={address !== ''}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  )
}

const faultOf = (error: unknown): string =>
  error instanceof ApiProblem && error.status === 404
    ? 'This version of the service cannot settle karma'
    : titleOf(error)
