import { useQuery } from '@tanstack/react-query'
import { Lock, LockOpen } from 'lucide-react'
import { useState } from 'react'
import { queries } from '../../api/queries.ts'
import type { Configuration, EventItem, KarmaReceipt, Treasury } from '../../api/types.ts'
import { PageLink } from '../../app/page-link.tsx'
import { useUrlState } from '../../app/use-url-state.ts'
import { useEventList } from '../../live/live.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { formatUsd, shortId, textOf } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { Count, Percent, Stat, Unknown } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { type Column, numberColumn, TablePanel, WIDE } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { IntentDetails, MigrateDialog, ReceiptDetails } from './dialogs.tsx'
import { Karma, RECEIPT_TONES } from './karma.tsx'
import { IntentsPanel } from './pending-panel.tsx'
import { SignatureBadge } from './signatures.tsx'

/** Shares of profit: pending, settled, and the wallet they go to. */
export const Page = () => {
  const [opened, open] = useUrlState('item')
  return (
    <div className="grid gap-3 lg:grid-cols-12">
      <SummaryPanel className="lg:col-span-8" />
      <WalletPanel className="lg:col-span-4" />
      <IntentsPanel className="lg:col-span-12" onOpen={({ id }) => open(id)} />
      <ReceiptsPanel className="lg:col-span-12" onOpen={({ id }) => open(id)} />
      <Opened id={opened} onClose={() => open('')} />
    </div>
  )
}

const Opened = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const { data: intents } = useQuery(queries.karmaIntents())
  const { data: receipts } = useQuery(queries.karmaReceipts())
  const intent = intents?.items.find((one) => one.id === id)
  if (intent !== undefined) return <IntentDetails item={intent} onClose={onClose} />
  const receipt = receipts?.items.find((one) => one.id === id)
  return receipt === undefined ? null : <ReceiptDetails item={receipt} onClose={onClose} />
}

const SummaryPanel = ({ className }: { readonly className: string }) => {
  const query = useQuery(queries.treasury())
  const { data: configuration } = useQuery(queries.config())
  return (
    <QueryPanel title="Karma" className={className} query={query}>
      {(treasury) => (
        <div className="grid gap-3">
          <NothingAccrues treasury={treasury} />
          <dl className="grid grid-cols-2 gap-4 sm:grid-cols-4">
            <Stat label="Pending" note={countText(treasury.pending_intents, 'intent')}>
              <Karma value={treasury.pending_usd} />
            </Stat>
            <Stat label="Settled" note={countText(treasury.receipts, 'receipt')}>
              <Karma value={treasury.settled_usd} />
            </Stat>
            <Stat label="Rate" note="of the net profit of each winning trade">
              <Percent value={treasury.percentage} />
            </Stat>
            <Stat label="Settlement" note={whenText(configuration)}>
              {configuration?.karma.settlement_mode ?? '…'}
            </Stat>
          </dl>
        </div>
      )}
    </QueryPanel>
  )
}

/** Why nothing accrues. */
const NothingAccrues = ({ treasury }: { readonly treasury: Treasury }) => {
  const why = !treasury.enabled
    ? 'Karma is switched off (karma.enabled).'
    : treasury.treasury_address === ''
      ? 'Nothing accrues: no treasury address is set (karma.treasury_address).'
      : treasury.percentage === 0
        ? 'The rate is zero (karma.percentage).'
        : null
  if (why === null) return null
  return (
    <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-[13px] text-warn">
      {why}{' '}
      <PageLink to="/settings" search={{ section: 'karma' }} className="font-medium">
        Open the settings of karma
      </PageLink>
    </p>
  )
}

const countText = (count: number, word: string): string => `${count} ${count === 1 ? word : `${word}s`}`

const whenText = (configuration: Configuration | undefined): string => {
  switch (configuration?.karma.settlement_mode) {
    case 'manual':
      return 'on request, below'
    case 'daily':
      return 'all pending, daily at 00:00 UTC'
    case 'weekly':
      return 'all pending, Mondays at 00:00 UTC'
    case 'threshold':
      return `all pending, from ${formatUsd(configuration.karma.threshold_usd)}`
    default:
      return ''
  }
}

interface ReceiptsPanelProps {
  readonly className: string
  readonly onOpen: (receipt: KarmaReceipt) => void
}

const ReceiptsPanel = ({ className, onOpen }: ReceiptsPanelProps) => {
  const query = useQuery(queries.karmaReceipts())
  return (
    <TablePanel
      title="Receipts"
      className={className}
      query={query}
      label="All receipts"
      columns={COLUMNS}
      rows={({ items }) => items}
      rowKey={({ id }) => id}
      onOpen={onOpen}
      empty={
        <Empty title="No receipts yet">
          Every settlement creates one, signed by this node and verifiable without the service.
        </Empty>
      }
    />
  )
}

const COLUMNS: readonly Column<KarmaReceipt>[] = [
  {
    name: 'Settled',
    render: ({ created_at }) => <Time at={created_at} />,
    sortBy: ({ created_at }) => created_at,
  },
  numberColumn('Total', ({ total_usd }) => total_usd, Karma),
  numberColumn('Intents', ({ intent_ids }) => intent_ids.length, Count, WIDE),
  { name: 'To', wide: true, render: ({ destination_wallet }) => <Id id={destination_wallet} /> },
  {
    name: 'Transaction',
    wide: true,
    render: ({ tx_hash }) => (tx_hash === null ? <Unknown why="none" /> : <Id id={tx_hash} />),
  },
  {
    name: 'Status',
    wide: true,
    render: ({ status }) => <Badge tone={RECEIPT_TONES[status]}>{status}</Badge>,
  },
  {
    name: 'Mode',
    wide: true,
    render: ({ mode }) => <Badge tone={mode === 'live' ? 'warn' : 'neutral'}>{mode}</Badge>,
  },
  { name: 'Signature', align: 'right', render: (receipt) => <SignatureBadge signed={receipt} /> },
]

const MOVES_MAX = 20

/** The address that payments go to, and how to change it. */
const WalletPanel = ({ className }: { readonly className: string }) => {
  const query = useQuery(queries.treasury())
  const { data: receipts } = useQuery(queries.karmaReceipts())
  const { events: migrations } = useEventList({ type: 'karma.wallet_migration', limit: MOVES_MAX })
  // The first live receipt locks it, and only a locked wallet can be migrated.
  const isLocked = migrations.length > 0 || receipts?.items.some(({ mode }) => mode === 'live') === true
  return (
    <QueryPanel
      title="Wallet"
      className={className}
      query={query}
      actions={<LockBadge isLocked={receipts === undefined ? null : isLocked} />}
    >
      {(treasury) => (
        <div className="grid gap-3">
          <Facts
            facts={{
              Address:
                treasury.treasury_address === '' ? 'not set' : <Id id={treasury.treasury_address} whole />,
              Rate: <Percent value={treasury.percentage} />,
            }}
          />
          <HowToChange isLocked={isLocked} treasury={treasury} />
          {migrations.length === 0 ? null : <Migrations migrations={migrations} />}
        </div>
      )}
    </QueryPanel>
  )
}

const LockBadge = ({ isLocked }: { readonly isLocked: boolean | null }) => {
  if (isLocked === null) return null
  const Icon = isLocked ? Lock : LockOpen
  return (
    <Badge tone={isLocked ? 'good' : 'neutral'}>
      <Icon className="size-3" aria-hidden /> {isLocked ? 'locked' : 'not locked yet'}
    </Badge>
  )
}

const HowToChange = ({ isLocked, treasury }: { readonly isLocked: boolean; readonly treasury: Treasury }) => {
  const [isMigrating, setMigrating] = useState(false)
  if (!isLocked) {
    return (
      <p className="text-xs text-muted">
        The settings decide until the first live receipt; from then on address and rate are locked.{' '}
        <PageLink to="/settings" search={{ section: 'karma' }}>
          Change them in the settings
        </PageLink>
      </p>
    )
  }
  return (
    <>
      <p className="text-xs text-muted">
        Locked by the first live receipt: the settings no longer decide. A change needs a reason, which stays
        in the log.
      </p>
      <Button className="justify-self-start" onClick={() => setMigrating(true)}>
        Change the wallet
      </Button>
      {isMigrating ? <MigrateDialog treasury={treasury} onClose={() => setMigrating(false)} /> : null}
    </>
  )
}

const Migrations = ({ migrations }: { readonly migrations: readonly EventItem[] }) => (
  <div className="grid gap-1">
    <h3 className="text-xs font-medium text-muted">Changes</h3>
    <ul className="max-h-48 overflow-y-auto text-[13px]" tabIndex={0} aria-label="Changes of the wallet">
      {migrations.map(({ id, ts, payload }) => (
        <li key={id} className="grid gap-0.5 border-b border-line py-1 last:border-0">
          <span className="flex justify-between gap-2">
            <code>
              {shortId(textOf(payload['old_address']))} → {shortId(textOf(payload['new_address']))}
            </code>
            <span className="text-xs text-muted">
              <Time at={ts} as="ago" />
            </span>
          </span>
          <Untrusted text={textOf(payload['reason'])} />
        </li>
      ))}
    </ul>
  </div>
)
