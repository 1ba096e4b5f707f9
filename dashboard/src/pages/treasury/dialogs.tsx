import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ApiError } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { KarmaIntent, KarmaReceipt, Treasury } from '../../api/types.ts'
import { Form, useDraft } from '../../app/forms.tsx'
import { PageLink } from '../../app/page-link.tsx'
import { useAction } from '../../app/use-action.ts'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { formatMicroUsd, formatPercent } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { Percent, Pnl, Unknown } from '../../ui/numbers.tsx'
import { titleOf } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { Karma, RECEIPT_TONES } from './karma.tsx'
import { commandFor, SignatureBadge, type Signed, signedText, usePublicKey } from './signatures.tsx'

interface SettleDialogProps {
  readonly intents: readonly KarmaIntent[]
  readonly onClose: () => void
}

/** Records a payment. The service itself moves no money. */
export const SettleDialog = ({ intents, onClose }: SettleDialogProps) => {
  const { data: treasury } = useQuery(queries.treasury())
  const [txHash, setTxHash] = useState('')
  const settle = useAction({
    send: (_input: void, headers) =>
      api.POST('/karma/settle', {
        body: {
          intent_ids: intents.map(({ id }) => id),
          tx_hash: txHash.trim() === '' ? null : txHash.trim(),
        },
        headers,
      }),
    done: ({ receipt, skipped }) =>
      `Settled ${formatMicroUsd(receipt.total_usd)}${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`,
    after: onClose,
    refreshes: ['karma', 'scores'],
    quiet: true,
  })
  const total = intents.reduce((sum, { karma_amount_usd: amount }) => sum + amount, 0)
  const address = treasury?.treasury_address ?? ''
  return (
    <Dialog
      title={`Settle ${formatMicroUsd(total)}?`}
      description="Writes a signed receipt into the log. The service moves no money: pay first, then record it."
      onClose={onClose}
    >
      <Form
        submitLabel="Settle"
        error={settle.error === null ? null : errorText(settle.error)}
        isBusy={settle.isPending}
        isReady={address !== ''}
        onSubmit={settle.run}
        onCancel={onClose}
      >
        <Facts
          facts={{
            Intents: intents.length,
            Mode: intents[0]?.mode ?? '',
            To:
              treasury === undefined ? '…' : address === '' ? 'no address is set' : <Id id={address} whole />,
          }}
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
      </Form>
    </Dialog>
  )
}

const errorText = (error: unknown): string =>
  error instanceof ApiError && error.status === 404
    ? 'This version of the service cannot settle karma'
    : titleOf(error)

interface MigrateDialogProps {
  readonly treasury: Treasury
  readonly onClose: () => void
}

/** Changes a locked wallet. There is no other way. */
export const MigrateDialog = ({ treasury, onClose }: MigrateDialogProps) => {
  const { draft, input } = useDraft({ address: '', rate: String(treasury.percentage), reason: '' })
  const [address, reason, percentage] = [draft.address.trim(), draft.reason.trim(), Number(draft.rate)]
  const isRate = draft.rate.trim() !== '' && percentage >= 0 && percentage <= 1
  const migrate = useAction({
    send: (_input: void, headers) =>
      api.POST('/karma/migrate-wallet', { body: { address, percentage, reason }, headers }),
    done: () => 'The wallet is changed',
    after: onClose,
    refreshes: ['karma'],
    quiet: true,
  })
  return (
    <Dialog
      title="Change the wallet?"
      description={`Karma goes to ${treasury.treasury_address} now. The change is signed and stays in the log.`}
      onClose={onClose}
    >
      <Form
        submitLabel="Change the wallet"
        look="danger"
        error={migrate.error === null ? null : titleOf(migrate.error)}
        isBusy={migrate.isPending}
        isReady={address !== '' && reason !== '' && isRate}
        onSubmit={migrate.run}
        onCancel={onClose}
      >
        <TextField
          label="New address"
          maxLength={128}
          autoComplete="off"
          spellCheck={false}
          {...input('address')}
        />
        <TextField
          label="Rate"
          hint={isRate ? `${formatPercent(percentage)} of the net profit` : undefined}
          inputMode="decimal"
          {...input('rate')}
          error={isRate ? undefined : 'A share from 0 to 1, such as 0.005'}
        />
        <TextField label="Reason" hint="Stored in the log" maxLength={500} {...input('reason')} />
      </Form>
    </Dialog>
  )
}

interface DetailsProps<Item> {
  readonly item: Item
  readonly onClose: () => void
}

export const IntentDetails = ({ item: intent, onClose }: DetailsProps<KarmaIntent>) => (
  <Dialog title={`Karma of ${formatMicroUsd(intent.karma_amount_usd)}`} form="sheet" onClose={onClose}>
    <div className="grid gap-5">
      <Facts
        facts={{
          Accrued: <Time at={intent.created_at} as="full" />,
          Trade: (
            <PageLink to="/positions" search={{ position: intent.trade_id }}>
              {intent.trade_id}
            </PageLink>
          ),
          'Net profit': <Pnl value={intent.realized_pnl_usd} />,
          Rate: <Percent value={intent.karma_percentage} />,
          Mode: intent.mode,
          Intent: <Id id={intent.id} whole />,
        }}
      />
      <Shares intent={intent} />
      <Proof signed={intent} />
    </div>
  </Dialog>
)

const Shares = ({ intent }: { readonly intent: KarmaIntent }) => {
  const { data: known = [] } = useQuery(queries.contributors())
  if (intent.contributors.length === 0) {
    return <p className="text-[13px] text-muted">No contributor had a share in this trade.</p>
  }
  return (
    <section className="grid gap-1.5">
      <h3 className="text-sm font-semibold">Shared by</h3>
      <ul className="grid gap-1 text-[13px]">
        {intent.contributors.map(({ contributor_id, node_id, share }) => (
          <li key={contributor_id} className="flex items-baseline justify-between gap-3">
            <PageLink to="/contributors" search={{ contributor: contributor_id }} className="min-w-0">
              <Untrusted lines={1} text={known.find(({ id }) => id === contributor_id)?.name ?? node_id} />
            </PageLink>
            <span className="whitespace-nowrap">
              <Percent value={share} digits={1} /> <span className="text-muted">·</span>{' '}
              <Karma value={share * intent.karma_amount_usd} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

export const ReceiptDetails = ({ item: receipt, onClose }: DetailsProps<KarmaReceipt>) => (
  <Dialog title={`Receipt of ${formatMicroUsd(receipt.total_usd)}`} form="sheet" onClose={onClose}>
    <div className="grid gap-5">
      <Facts
        facts={{
          Settled: <Time at={receipt.created_at} as="full" />,
          Status: <Badge tone={RECEIPT_TONES[receipt.status]}>{receipt.status}</Badge>,
          To: <Id id={receipt.destination_wallet} whole />,
          Transaction: receipt.tx_hash === null ? <Unknown why="none" /> : <Id id={receipt.tx_hash} whole />,
          Mode: receipt.mode,
          Receipt: <Id id={receipt.id} whole />,
          [`Intents (${receipt.intent_ids.length})`]: (
            <span className="grid gap-0.5">
              {receipt.intent_ids.map((id) => (
                <Id key={id} id={id} whole />
              ))}
            </span>
          ),
        }}
      />
      <Proof signed={receipt} />
    </div>
  </Dialog>
)

/** Data for verifying a signature without this page. */
const Proof = ({ signed }: { readonly signed: Signed }) => {
  const key = usePublicKey(signed.node_id) ?? null
  return (
    <section className="grid gap-3">
      <h3 className="flex items-center gap-2 text-sm font-semibold">
        Proof <SignatureBadge signed={signed} />
      </h3>
      <Facts
        facts={{
          'Signed by': <Id id={signed.node_id} whole />,
          'Public key': key === null ? 'not in the log' : <Id id={key} whole />,
          Signature: <Id id={signed.signature_b64} whole />,
        }}
      />
      <Text label="What was signed" text={signedText(signed)} />
      {key === null ? null : <Text label="Check it yourself" text={commandFor(signed, key)} />}
    </section>
  )
}

const Text = ({ label, text }: { readonly label: string; readonly text: string }) => (
  <div className="grid gap-1">
    <h4 className="text-xs font-medium text-muted">{label}</h4>
    <pre
      tabIndex={0}
      aria-label={label}
      className="max-h-56 overflow-auto rounded-md bg-raised p-3 text-xs break-all whitespace-pre-wrap"
    >
      <bdi>{text}</bdi>
    </pre>
  </div>
)
