import type { Configuration } from '../config/schema.ts'
import { receiptSignerOf } from './accrue.ts'
import { hasReached, settleAllShares, waitsSinceBefore } from './settle.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { accept, type Decision } from '../shared/decision.ts'
import { DAY_MS } from '../shared/time.ts'
import type { TreasuryState } from './evolve.ts'

/** Everything that waits, if the configuration says that its time has come. */
export const settleDueShares = (treasury: TreasuryState, context: DecisionContext): Decision =>
  isSettlementDue(treasury, context.configuration, context.now)
    ? settleAllShares(treasury, context.configuration.karma, receiptSignerOf(context))
    : accept()

/** A missed midnight is made up for: what waits since before the last one is due. */
export const isSettlementDue = (
  treasury: TreasuryState,
  { karma: rules }: Configuration,
  now: string,
): boolean => {
  if (treasury.pending.size === 0) return false
  switch (rules.settlement_mode) {
    case 'manual':
      return false
    case 'daily':
      return waitsSinceBefore(treasury, midnightOf(now, 0))
    case 'weekly':
      return waitsSinceBefore(treasury, midnightOf(now, daysSinceMonday(now)))
    case 'threshold':
      return hasReached(treasury, rules.threshold_usd)
  }
}

const midnightOf = (now: string, daysBack: number): string =>
  new Date(Math.floor(Date.parse(now) / DAY_MS) * DAY_MS - daysBack * DAY_MS).toISOString()

const daysSinceMonday = (now: string): number => (new Date(now).getUTCDay() + 6) % 7
