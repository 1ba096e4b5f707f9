import { z } from 'zod'
import { killSwitchLevel } from '../shared/level.ts'

/** What the check of the stored log found when a process started. */
const startIntegrity = z.object({
  ok: z.boolean(),
  reason: z.string().nullable(),
  first_bad_seq: z.int().nullable(),
})

export const systemEvents = {
  'system.started.v1': z.object({
    version: z.string(),
    node_id: z.string(),
    public_key: z.string(),
    ephemeral: z.boolean(),
    integrity: startIntegrity,
    /** Settings by which the log is folded from now on: every reader has to do it alike. */
    folding: z
      .object({
        analysis_bar_seconds: z.int(),
        variance_decay: z.number(),
        link_window_seconds: z.int(),
        /** What the account begins with; once something was traded it stays what it was. */
        start_balance_usd: z.number().optional(),
        /** Outcomes of authors are remembered for so many days. */
        outcome_days: z.int().optional(),
        /** After so many newer outcomes one counts half in the form of its author. */
        form_half_life: z.number().optional(),
      })
      .optional(),
  }),
  'system.config_changed.v1': z.object({ changed: z.array(z.string()), config_hash: z.string() }),
  'system.kill_switch.v1': z.object({
    level: killSwitchLevel,
    prev_level: killSwitchLevel,
    reason: z.string(),
    triggered_by: z.string().optional(),
    reset_by: z.string().optional(),
    triggers: z.array(z.object({ name: z.string(), value: z.number(), threshold: z.number() })).optional(),
    acknowledged: z.record(z.string(), z.number()).optional(),
  }),
  /** Conditions that an operator had acknowledged are over: from now on they fire again. */
  'system.kill_switch_rearmed.v1': z.object({ conditions: z.array(z.string()) }),
  'system.audit.v1': z.object({
    resource: z.string(),
    action: z.enum(['read', 'write']),
    outcome: z.enum(['allowed', 'denied']),
    reason: z.string().nullable(),
    request_id: z.string().nullable(),
  }),
  'system.dcg_violation.v1': z.object({
    symbol: z.string(),
    action: z.enum(['buy', 'sell']),
    reason: z.string(),
    blocked_at: z.string(),
    intent_id: z.string(),
  }),
  /** An operator typed the name of the venue: from now on its orders are real, and so is the account. */
  'system.live_confirmed.v1': z.object({
    venue: z.string(),
    confirmed_by: z.string(),
    config_hash: z.string(),
    /** What the account holds; the ledger goes on from here. */
    equity_usd: z.number(),
  }),
  /** An operator accepts that the log lost its end (an older copy was restored). */
  'system.restore.v1': z.object({
    reason: z.string(),
    accepted_by: z.string(),
    checkpoint_size: z.int(),
    checkpoint_head: z.string(),
  }),
} as const
