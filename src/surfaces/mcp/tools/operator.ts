import { z } from 'zod'
import type { Command } from '../../../core/decide.ts'
import type { Stamped } from '../../../core/log/event.ts'
import type { Refusal } from '../../../core/shared/decision.ts'
import type { JsonObject } from '../../../core/shared/json.ts'
import { knownRefusal, withLogChecked } from '../../../engine/queries/trading-records.ts'
import { rehearse } from '../../../engine/queries/views.ts'
import type { Caller, Need } from '../../caller.ts'
import {
  acknowledgeAlerts,
  acknowledgement,
  cancelOrder,
  closeAll,
  closePosition,
  decideIntent,
  killSwitchMove,
  reasonText,
  setKillSwitch,
} from '../../operator-actions.ts'
import {
  failed,
  orError,
  recordDenial,
  tool,
  type FailedOutcome,
  type Tool,
  type ToolCall,
  type ToolOutcome,
} from '../tool.ts'
import { CONFIRMATION_MS, issueConfirmation, useConfirmation, type Confirmed } from './confirmation.ts'

interface OperatorToolSpec<Input extends z.ZodObject> {
  readonly title: string
  readonly input: Input
  /** Error codes of this tool. */
  readonly errors: readonly string[]
  readonly command: (input: z.output<Input>, operator: string, caller: Caller) => Command
  /** Required right, if it is not `operator`. */
  readonly needs?: Need
}

const confirm = z.string().max(100).optional().meta({ description: 'the code of the first call' })

const events = z.array(z.object({ type: z.string(), payload: z.looseObject({}) }))

const asked = z.object({
  status: z.literal('confirmation_required'),
  confirm: z.string(),
  expires_at: z.string(),
  would_store: events,
})

const done = z.object({ status: z.literal('done'), stored: events })

const COMMON_ERRORS = [
  'operator_required',
  'scope_missing',
  'confirmation_invalid',
  'confirmation_expired',
  'confirmation_used',
  'confirmation_stale',
] as const

/** A tool that moves money: the first call returns the events that would be stored, the second one stores them. */
const operatorTool = <Input extends z.ZodObject>(spec: OperatorToolSpec<Input>): Tool =>
  tool(spec.needs ?? 'operator', {
    title: spec.title,
    advice:
      'The first call changes nothing: it answers what would be stored, and a code. The same call with the code in ' +
      `\`confirm\` does it, once, within ${CONFIRMATION_MS / 1000} s and while nothing it was shown has changed. Ask a ` +
      'person in between.',
    input: z.object({ ...spec.input.shape, confirm }),
    output: orError(z.union([asked, done]), [...COMMON_ERRORS, ...spec.errors]),
    call: (call) => callInTwoSteps(spec, call),
  })

const intentInput = z.object({
  intent_id: z.string().meta({ description: 'of an intent that waits for approval' }),
  note: reasonText().optional(),
})

export const operatorTools = {
  close_position: operatorTool({
    title: 'Close a position',
    input: z.object({
      position_id: z.string().meta({ description: 'an id from get_open_positions' }),
      reason: reasonText().optional(),
    }),
    errors: ['position_not_found', 'position_not_open', 'price_unavailable'],
    command: ({ position_id, reason }, operator) => closePosition(position_id, reason, operator),
  }),
  close_all_positions: operatorTool({
    title: 'Close all positions',
    input: z.object({ reason: reasonText().optional() }),
    errors: [],
    command: ({ reason }, operator) => closeAll(reason, operator),
  }),
  cancel_order: operatorTool({
    title: 'Cancel an order',
    input: z.object({
      order_id: z.string().meta({ description: 'of an order that is not final' }),
      reason: reasonText().optional(),
    }),
    errors: ['order_not_found', 'order_not_open'],
    command: ({ order_id, reason }, operator) => cancelOrder(order_id, reason, operator),
  }),
  approve_intent: operatorTool({
    title: 'Approve an intent',
    input: intentInput,
    errors: ['intent_not_found', 'intent_not_awaiting', 'kill_switch_active'],
    command: ({ intent_id, note }, operator) => decideIntent('approve-intent', intent_id, note, operator),
  }),
  deny_intent: operatorTool({
    title: 'Deny an intent',
    input: intentInput,
    errors: ['intent_not_found', 'intent_not_awaiting'],
    command: ({ intent_id, note }, operator) => decideIntent('deny-intent', intent_id, note, operator),
  }),
  set_kill_switch: operatorTool({
    title: 'Raise or lower the kill switch',
    input: killSwitchMove,
    errors: [],
    // The decision refuses callers other than operators who lower the level.
    needs: 'control',
    command: setKillSwitch,
  }),
  acknowledge_alerts: operatorTool({
    title: 'Acknowledge alerts',
    input: acknowledgement,
    errors: [],
    needs: 'control',
    command: ({ alert_ids }, operator) => acknowledgeAlerts(alert_ids, operator),
  }),
}

const callInTwoSteps = async <Input extends z.ZodObject>(
  { input: schema, command: commandOf }: OperatorToolSpec<Input>,
  call: ToolCall<{ readonly confirm?: string | undefined }>,
): Promise<ToolOutcome> => {
  const { name, input, dependencies, traceId } = call
  const { engine } = dependencies
  const { confirm: code, ...rest } = input
  const given = schema.parse(rest)
  const about: Confirmed = { tool: name, arguments: given as unknown as JsonObject }
  const command = commandOf(given, engine.nodeId, call.caller)
  if (code === undefined) return ask(command, about, call)
  const check = useConfirmation(code, about, await engine.fresh(), dependencies.clock.now())
  switch (check.status) {
    case 'invalid':
      return failed('confirmation_invalid', { detail: 'the code was given for something else' })
    case 'expired':
      return failed('confirmation_expired', { detail: 'call again without confirm' })
    case 'used':
      return failed('confirmation_used', { detail: 'a code confirms one call; call again without confirm' })
    case 'stale':
      return stale(command, about, call)
    case 'valid': {
      const executed = await engine.execute(command, { traceId, expects: check.isCurrent })
      const outcome = await withLogChecked(engine.log, executed)
      if (outcome.status === 'refused') {
        const { code: reason } = outcome.refusal
        if (reason === 'confirmation.stale') return stale(command, about, call)
        if (reason === 'kill_switch.active') await recordDenial('kill_switch_active', call)
        if (reason === 'auth.forbidden') await recordDenial(reason, call)
        return refusedBy(outcome.refusal)
      }
      return {
        status: 'done',
        value: { status: 'done', stored: summaryOf(outcome.events) },
        effect: 'written',
      }
    }
  }
}

/** Result for a stale code. If the call would be refused now, the refusal is returned, because it explains more. */
const stale = async (command: Command, about: Confirmed, call: ToolCall<unknown>): Promise<ToolOutcome> => {
  const now = await ask(command, about, call)
  if (now.status !== 'failed') {
    const detail = 'what would be stored has changed since the code was given; call again without confirm'
    return failed('confirmation_stale', { detail })
  }
  if (now.error['error'] === 'kill_switch_active') await recordDenial('kill_switch_active', call)
  return now
}

const ask = async (command: Command, about: Confirmed, call: ToolCall<unknown>): Promise<ToolOutcome> => {
  const { engine, clock, configuration, version } = call.dependencies
  const rehearsal = await rehearse(engine, command, { clock, configuration: configuration(), version })
  if (rehearsal.status === 'refused') {
    const { code } = rehearsal.refusal
    if (code === 'auth.forbidden') await recordDenial(code, call)
    return refusedBy(await knownRefusal(engine.log, rehearsal.refusal))
  }
  const expiresMs = clock.now() + CONFIRMATION_MS
  const value = {
    status: 'confirmation_required',
    confirm: issueConfirmation(about, engine.state, expiresMs),
    expires_at: new Date(expiresMs).toISOString(),
    would_store: summaryOf(rehearsal.events),
  }
  return { status: 'done', value, effect: 'read' }
}

const summaryOf = (stored: readonly Stamped[]): readonly JsonObject[] =>
  stored.map(({ type, payload }) => ({ type, payload }))

const refusedBy = ({ code, detail, extras }: Refusal): FailedOutcome =>
  failed(code === 'auth.forbidden' ? 'operator_required' : code.replace('.', '_'), { detail, ...extras })
