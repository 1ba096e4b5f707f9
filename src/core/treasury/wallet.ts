import { accept, refuse, type Decision } from '../shared/decision.ts'

/** Where karma goes, and how much of a profit it is. */
export interface Wallet {
  readonly address: string
  readonly percentage: number
}

/** The sections of the configuration that karma reads. */
export interface TreasuryRules {
  readonly enabled: boolean
  readonly percentage: number
  readonly treasury_address: string
}

export interface Migration {
  readonly address: string
  /** Null: as before. */
  readonly percentage: number | null
  readonly reason: string
  readonly operator: string
}

/** Once money has moved for real, the configuration no longer decides where to. */
export const walletInForce = (
  { lockedWallet }: { readonly lockedWallet: Wallet | null },
  { treasury_address: address, percentage }: TreasuryRules,
): Wallet => lockedWallet ?? { address, percentage }

/** Settings that no longer decide, and the only values they may still be given. */
export const lockedSettings = ({
  lockedWallet,
}: {
  readonly lockedWallet: Wallet | null
}): Readonly<Record<string, string | number>> =>
  lockedWallet === null
    ? {}
    : {
        'karma.treasury_address': lockedWallet.address,
        'karma.percentage': lockedWallet.percentage,
      }

/** The only way to change a locked wallet: by name, with a reason, in the log. */
export const migrateWallet = (
  { lockedWallet }: { readonly lockedWallet: Wallet | null },
  { address, percentage, reason, operator }: Migration,
): Decision => {
  if (lockedWallet === null) {
    return refuse(
      'karma.wallet_not_locked',
      'the wallet is not locked yet: karma.treasury_address and karma.percentage can be configured',
    )
  }
  const wanted = { address, percentage: percentage ?? lockedWallet.percentage }
  if (wanted.address === lockedWallet.address && wanted.percentage === lockedWallet.percentage) {
    return accept()
  }
  return accept({
    type: 'karma.wallet_migration.v1',
    source: 'karma',
    payload: {
      old_address: lockedWallet.address,
      new_address: wanted.address,
      old_percentage: lockedWallet.percentage,
      new_percentage: wanted.percentage,
      reason,
      authorized_by: operator,
    },
  })
}
