import { z } from 'zod'
import {
  branded,
  type IntentId,
  type NodeId,
  type OrderId,
  type PositionId,
  type Timestamp,
} from '../shared/brand.ts'
import { killSwitchLevel } from '../shared/level.ts'
import { REGIMES } from './brain.ts'

/** Result of the check of the stored log when a process starts. */
const startIntegrity = z.object({
  ok: z.boolean(),
  reason: z.string().nullable(),
  first_bad_seq: z.int().nullable(),
})

/** Size and base64 root of a signed checkpoint. Its file may be deleted, but this record stays. */
const recordedCheckpoint = z.object({ size: z.int(), root: z.string() })

const nodeKey = { node_id: z.string(), public_key: z.string().regex(/^[0-9a-f]{64}$/), reason: z.string() }
/** Rights that an access key may have. */
export const ACCESS_SCOPES = ['read', 'submit', 'emit', 'operate'] as const

/** The settings of decisions that differ from the defaults, by section: see `recordedConfiguration`. */
const recordedSettings = z.record(z.string(), z.unknown())

const CLOCK_JUMP_CAUSES = ['wall_clock', 'log_ahead'] as const

export const systemEvents = {
  'system.started.v1': z.object({
    version: z.string(),
    node_id: branded<NodeId>(),
    public_key: z.string(),
    ephemeral: z.boolean(),
    integrity: startIntegrity,
    /** Latest checkpoint at the start; null if none are kept. From then on it must not be missing. */
    checkpoint: recordedCheckpoint.nullable().optional(),
    /** Settings that control the fold from this event on. Every reader has to apply them alike. */
    folding: z
      .object({
        analysis_bar_seconds: z.int(),
        variance_decay: z.number(),
        /** Set by older releases. No fold reads it any more. */
        link_window_seconds: z.int().optional(),
        /** Starting balance of the account. It cannot change after the first trade. */
        start_balance_usd: z.number().optional(),
        /** Number of days for which outcomes of authors are kept. */
        outcome_days: z.int().optional(),
        /** Set by older releases and not read any more. `edge_half_life` counts. */
        form_half_life: z.number().optional(),
        /** Sum of spacings of newer outcomes after which an outcome counts half in the edge of its author. */
        edge_half_life: z.number().optional(),
      })
      .optional(),
    /**
     * Hash and settings of the configuration in this process. Absent from logs of releases that did not record them.
     */
    config_hash: z.string().optional(),
    configuration: recordedSettings.optional(),
  }),
  /** From now on this key may sign: a node whose key was accepted already says so. */
  /** `replaces`: node whose key this one takes the place of. Absent for another node. */
  'system.key_admitted.v1': z.object({ ...nodeKey, replaces: z.string().optional() }),
  /** The last event that this key has anything to do with. */
  'system.key_retired.v1': z.object(nodeKey),
  /** `node_id`: node that keeps the checkpoint. Absent in older logs. */
  'system.checkpoint.v1': recordedCheckpoint.extend({ node_id: z.string().optional() }),
  /** From now on this node drives feeds, schedule and venues; the token grows with each leader. */
  'system.leader.v1': z.object({ token: z.int(), node_id: branded<NodeId>() }),
  /** Contains only the hash of the secret, so that readers of the log cannot use the key. */
  'system.access_key_created.v1': z.object({
    name: z.string(),
    hash: z.string(),
    scopes: z.array(z.enum(ACCESS_SCOPES)),
    /** The only contributor or producer that the key may submit for; both null if it may submit for any. */
    contributor: branded<NodeId>().nullable(),
    producer: z.string().nullable(),
    expires_at: branded<Timestamp>().nullable(),
  }),
  'system.access_key_revoked.v1': z.object({ name: z.string() }),
  /** An operator has acknowledged these alerts. */
  'system.alerts_acknowledged.v1': z.object({ alert_ids: z.array(z.string()), acknowledged_by: z.string() }),
  'system.config_changed.v1': z.object({
    changed: z.array(z.string()),
    /** Name of the token or access key; `cli` for the command line. Absent from events of earlier releases. */
    changed_by: z.string().optional(),
    config_hash: z.string(),
    configuration: recordedSettings.optional(),
  }),
  'system.kill_switch.v1': z.object({
    level: killSwitchLevel,
    prev_level: killSwitchLevel,
    reason: z.string(),
    triggered_by: z.string().optional(),
    reset_by: z.string().optional(),
    triggers: z.array(z.object({ name: z.string(), value: z.number(), threshold: z.number() })).optional(),
    acknowledged: z.record(z.string(), z.number()).optional(),
  }),
  /** Acknowledged conditions that have ended. From this event on they trigger again. */
  'system.kill_switch_rearmed.v1': z.object({ conditions: z.array(z.string()) }),
  'system.audit.v1': z.object({
    resource: z.string(),
    action: z.enum(['read', 'write']),
    outcome: z.enum(['allowed', 'denied']),
    reason: z.string().nullable(),
    request_id: z.string().nullable(),
    /** The name of the access key that the request was made with. */
    access_key: z.string().optional(),
  }),
  'system.dcg_violation.v1': z.object({
    symbol: z.string(),
    action: z.enum(['buy', 'sell']),
    reason: z.string(),
    blocked_at: branded<Timestamp>(),
    intent_id: branded<IntentId>(),
  }),
  /**
   * An operator typed the name of the venue as confirmation. From this event on, its orders and the account are real.
   */
  'system.live_confirmed.v1': z.object({
    venue: z.string(),
    confirmed_by: z.string(),
    config_hash: z.string(),
    /** Equity of the account, from which the ledger continues. */
    equity_usd: z.number(),
  }),
  /** The clock of the machine contradicts the time that has passed, or the log. */
  'system.clock_jumped.v1': z.object({
    node_id: branded<NodeId>(),
    /**
     * `wall_clock`: the clock was set while the service ran. `log_ahead`: the log holds a later time than the clock.
     */
    cause: z.enum(CLOCK_JUMP_CAUSES),
    /** Positive if the clock jumped ahead. */
    jump_seconds: z.number(),
    limit_seconds: z.number(),
    /** Time of the machine's clock. */
    wall_clock: branded<Timestamp>(),
    /** The newest `recorded_at` of the log. */
    log_time: branded<Timestamp>(),
  }),
  /** An operator accepts that the log lost its end, because an older copy was restored. */
  'system.restore.v1': z.object({
    reason: z.string(),
    accepted_by: z.string(),
    checkpoint_size: z.int(),
    checkpoint_head: z.string(),
  }),
} as const

const exitAlert = {
  urgency: z.literal('immediate'),
  message: z.string(),
  position_id: branded<PositionId>(),
  symbol: z.string(),
  direction: z.enum(['long', 'short']),
  entry_price: z.number(),
  mark_price: z.number(),
  /** Null if the exit is blocked, so that an operator has to act. */
  realized_pnl: z.number().nullable(),
  repeat: z.int(),
}

const weights = z.record(z.string(), z.number())

export const alertEvents = {
  'alert.kill_switch': z.object({
    urgency: z.literal('immediate'),
    message: z.string(),
    level: killSwitchLevel,
    prev_level: killSwitchLevel,
    reason: z.string(),
    triggered_by: z.string(),
    repeat: z.int(),
  }),
  'alert.clock_jump': z.object({
    urgency: z.literal('immediate'),
    message: z.string(),
    cause: z.enum(CLOCK_JUMP_CAUSES),
    jump_seconds: z.number(),
    repeat: z.int(),
  }),
  /** A strategy or producer from a user's file was disabled. */
  'alert.own_code': z.object({
    urgency: z.literal('immediate'),
    message: z.string(),
    cause: z.literal('quarantined'),
    producer: z.string(),
    quarantined_until: branded<Timestamp>().nullable(),
    repeat: z.int(),
  }),
  'alert.regime_shift': z.object({
    urgency: z.literal('standard'),
    message: z.string(),
    regime: z.enum(REGIMES),
    previous: z.enum(REGIMES),
    repeat: z.int(),
  }),
  /** A problem of an order or a position at a venue that an operator has to check. */
  'alert.execution': z.object({
    urgency: z.literal('immediate'),
    message: z.string(),
    cause: z.enum([
      'capital_moved',
      'exit_failed',
      'loss_unexplained',
      'order_unknown',
      'position_adopted',
      'position_missing',
      'stop_not_resting',
      'venue_not_configured',
      'venue_not_opened',
    ]),
    symbol: z.string(),
    order_id: branded<OrderId>().nullable(),
    position_id: branded<PositionId>().nullable(),
    repeat: z.int(),
  }),
  'alert.stop_triggered': z.object({ ...exitAlert, stop_loss: z.number().nullable() }),
  'alert.target_hit': z.object({ ...exitAlert, take_profit: z.number().nullable() }),
  'alert.weights_adjusted': z.object({
    urgency: z.literal('low'),
    message: z.string(),
    previous_weights: weights,
    new_weights: weights,
    deltas: weights,
    observations: z.int(),
    reason: z.string(),
    repeat: z.int(),
  }),
} as const
