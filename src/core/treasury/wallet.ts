import { accept, refuse, type Decision } from '../shared/decision.ts'

/** Address to which shares are paid, and the paid share of a profit. */
export interface Wallet {
  readonly address: string
  readonly percentage: number
}

/** The settings of the section `karma` that the treasury reads. */
export interface TreasuryRules {
  readonly enabled: boolean
  readonly percentage: number
  readonly treasury_address: string
}

export interface Migration {
  readonly address: string
  /** Null leaves the percentage unchanged. */
  readonly percentage: number | null
  readonly reason: string
  readonly operator: string
}

/** After the first live receipt the configuration no longer decides. */
export const walletInForce = (
  { lockedWallet }: { readonly lockedWallet: Wallet | null },
  { treasury_address: address, percentage }: TreasuryRules,
): Wallet => lockedWallet ?? { address, percentage }

/** Settings that are locked, with the only value they may be set to. */
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

/** The only way to change a locked wallet: by an operator, with a reason, in the log. */
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
