import type { Configuration } from '../config/schema.ts'
import { receiptSignerOf } from './after-close.ts'
import { hasReached, settleAllKarma, waitsSinceBefore } from './settle.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import type { State } from '../state.ts'
import { accept, type Decision } from '../shared/decision.ts'
import { DAY_MS } from '../shared/time.ts'

/** Everything that waits, if the configuration says that its time has come. */
export const settleDueKarma = (state: State, moment: DecisionContext): Decision =>
  isKarmaDue(state, moment.configuration, moment.now)
    ? settleAllKarma(state.karma, moment.configuration.karma, receiptSignerOf(moment))
    : accept()

/** A missed midnight is made up for: what waits since before the last one is due. */
export const isKarmaDue = ({ karma }: State, { karma: rules }: Configuration, now: string): boolean => {
  if (karma.pending.size === 0) return false
  switch (rules.settlement_mode) {
    case 'manual':
      return false
    case 'daily':
      return waitsSinceBefore(karma, midnightOf(now, 0))
    case 'weekly':
      return waitsSinceBefore(karma, midnightOf(now, daysSinceMonday(now)))
    case 'threshold':
      return hasReached(karma, rules.threshold_usd)
  }
}

const midnightOf = (now: string, daysBack: number): string =>
  new Date(Math.floor(Date.parse(now) / DAY_MS) * DAY_MS - daysBack * DAY_MS).toISOString()

const daysSinceMonday = (now: string): number => (new Date(now).getUTCDay() + 6) % 7
