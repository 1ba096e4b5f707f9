import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { KarmaIntent, KarmaReceipt } from '../../api/people.ts'
import { queries } from '../../api/queries.ts'
import { Badge } from '../../ui/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Facts, Id } from '../../ui/id.tsx'
import { Percent, Pnl, Unknown } from '../../ui/numbers.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { formatKarma, Karma } from './karma-amount.tsx'
import { Proof } from './proof.tsx'
import { RECEIPT_TONES } from './receipts-panel.tsx'

interface DetailsProps<Item> {
  readonly item: Item
  readonly onClose: () => void
}

export const IntentDetails = ({ item: intent, onClose }: DetailsProps<KarmaIntent>) => (
  <Dialog title={`Karma of ${formatKarma(intent.karma_amount_usd)}`} form="sheet" onClose={onClose}>
    <div className="grid gap-5">
      <Facts
        facts={[
          ['Arose', <Time key="at" at={intent.created_at} as="full" />],
          [
            'Trade',
            <Link
              key="trade"
              to="/positions"
              search={{ position: intent.trade_id } as never}
              className="text-accent underline"
            >
              {intent.trade_id}
            </Link>,
          ],
          ['Net profit', <Pnl key="pnl" value={intent.realized_pnl_usd} />],
          ['Rate', <Percent key="rate" value={intent.karma_percentage} />],
          ['Mode', intent.mode],
          ['Intent', <Id key="id" id={intent.id} whole />],
        ]}
      />
      <Shares intent={intent} />
      <Proof signed={intent} />
    </div>
  </Dialog>
)

const Shares = ({ intent }: { readonly intent: KarmaIntent }) => {
  const { data: known = [] } = useQuery(queries.contributors())
  if (intent.contributors.length === 0) {
    return (
      <p className="text-[13px] text-muted">
        No contributor had a part in this trade: built-in signals decided.
      </p>
    )
  }
  return (
    <section className="grid gap-1.5">
      <h3 className="text-sm font-semibold">Shared by</h3>
      <ul className="grid gap-1 text-[13px]">
        {intent.contributors.map(({ contributor_id, node_id, share }) => (
          <li key={contributor_id} className="flex items-baseline justify-between gap-3">
            <Link
              to="/contributors"
              search={{ contributor: contributor_id } as never}
              className="min-w-0 text-accent underline"
            >
              <Untrusted lines={1} text={known.find(({ id }) => id === contributor_id)?.name ?? node_id} />
            </Link>
            <span className="whitespace-nowrap">
              <Percent value={share} digits={1} /> <span className="text-muted">·</span>{' '}
              <Karma usd={share * intent.karma_amount_usd} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

export const ReceiptDetails = ({ item: receipt, onClose }: DetailsProps<KarmaReceipt>) => (
  <Dialog title={`Receipt of ${formatKarma(receipt.total_usd)}`} form="sheet" onClose={onClose}>
    <div className="grid gap-5">
      <Facts
        facts={[
          ['Settled', <Time key="at" at={receipt.created_at} as="full" />],
          [
            'Status',
            <Badge key="status" tone={RECEIPT_TONES[receipt.status]}>
              {receipt.status}
            </Badge>,
          ],
          ['To', <Id key="to" id={receipt.destination_wallet} whole />],
          [
            'Transaction',
            receipt.tx_hash === null ? (
              <Unknown key="tx" why="none was told" />
            ) : (
              <Id key="tx" id={receipt.tx_hash} whole />
            ),
          ],
          ['Mode', receipt.mode],
          ['Receipt', <Id key="id" id={receipt.id} whole />],
          [
            `Intents (${receipt.intent_ids.length})`,
            <span key="intents" className="grid gap-0.5">
              {receipt.intent_ids.map((id) => (
                <Id key={id} id={id} whole />
              ))}
            </span>,
          ],
        ]}
      />
      <Proof signed={receipt} />
    </div>
  </Dialog>
)
