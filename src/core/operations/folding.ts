import type { Configuration } from '../config/schema.ts'
import type { PayloadOf } from '../events/catalogue.ts'

/** The settings that the fold itself depends on: they stand in the log, so that it folds the same for ever. */
export const foldingOf = ({
  brain,
  execution,
  karma,
  ta,
}: Configuration): NonNullable<PayloadOf<'system.started.v1'>['folding']> => ({
  analysis_bar_seconds: ta.bar_seconds,
  variance_decay: ta.variance_decay,
  link_window_seconds: brain.link.window_seconds,
  start_balance_usd: execution.paper_start_balance,
  form_half_life: karma.trust.half_life,
  outcome_days: Math.max(PROVENANCE_DAYS, karma.producer_window_days),
})

/** The longest window that is told of an author, whatever karma looks back on. */
const PROVENANCE_DAYS = 90
