import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Lock, LockOpen } from 'lucide-react'
import { useState } from 'react'
import type { EventItem } from '../../api/log.ts'
import type { Treasury } from '../../api/people.ts'
import { queries } from '../../api/queries.ts'
import { useRecentEvents } from '../../live/use-live.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { shortId, textOf } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { Percent } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { MigrateDialog } from './migrate-dialog.tsx'

const MOVES_MAX = 20
const isMigration = ({ type }: EventItem): boolean => type.startsWith('karma.wallet_migration.')

/** Where karma goes, and who may still change that. */
export const WalletPanel = ({ className }: { readonly className: string }) => {
  const query = useQuery(queries.treasury())
  const { data: receipts } = useQuery(queries.karmaReceipts())
  const { data: older } = useQuery(queries.events({ type: 'karma.wallet_migration', limit: MOVES_MAX }))
  const migrations = useRecentEvents(isMigration, { older: older?.items, limit: MOVES_MAX })
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
            facts={[
              [
                'Address',
                treasury.treasury_address === '' ? (
                  'not set'
                ) : (
                  <Id key="id" id={treasury.treasury_address} whole />
                ),
              ],
              ['Rate', <Percent key="rate" value={treasury.percentage} />],
            ]}
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
        <Link to="/settings" search={{ section: 'karma' } as never} className="tap text-accent underline">
          Change them in the settings
        </Link>
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
