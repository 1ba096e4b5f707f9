import { z } from 'zod'
import type { Command } from '../../core/decide.ts'
import type { Stamped } from '../../core/log/event.ts'
import type { ToolName } from '../../core/views/capabilities.ts'
import type { Refusal } from '../../core/shared/decision.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import { rehearse } from '../../engine/queries/views.ts'
import { knownRefusal, withLogChecked } from '../../engine/queries/trading-records.ts'
import { checkConfirmation, CONFIRMATION_MS, confirmationOf, type Confirmed } from './confirmation.ts'
import {
  defineTool,
  failed,
  orError,
  type McpDependencies,
  type Tool,
  type ToolCall,
  type ToolOutcome,
} from './tool.ts'

interface OperatorToolSpec<Input extends z.ZodObject> {
  readonly name: ToolName
  readonly title: string
  readonly input: Input
  /** Errors of its own. */
  readonly errors: readonly string[]
  readonly command: (input: z.output<Input>, operator: string) => Command
}

/** A tool that moves money: the first call returns what would be stored, the second one does it. */
export const defineOperatorTool = <Input extends z.ZodObject>(spec: OperatorToolSpec<Input>): Tool =>
  defineTool({
    title: spec.title,
    advice:
      'The first call changes nothing: it answers what would be stored, and a code. The same call with the code in ' +
      `\`confirm\` does it, within ${CONFIRMATION_MS / 1000} s. Ask a person in between.`,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    input: z.object({ ...spec.input.shape, confirm }),
    output: orError(z.union([asked, done]), [...COMMON_ERRORS, ...spec.errors]),
    call: (call) => callInTwoSteps(spec, call),
  })

export const reasonInput = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .optional()
  .meta({ description: 'why, for the log' })

const confirm = z.string().max(100).optional().meta({ description: 'the code of the first call' })

const events = z.array(z.object({ type: z.string(), payload: z.looseObject({}) }))

const asked = z.object({
  status: z.literal('confirmation_required'),
  confirm: z.string(),
  expires_at: z.string(),
  would_store: events,
})

const done = z.object({ status: z.literal('done'), stored: events })

const COMMON_ERRORS = ['operator_required', 'confirmation_invalid', 'confirmation_expired'] as const

const callInTwoSteps = async <Input extends z.ZodObject>(
  { name, input: schema, command: commandOf }: OperatorToolSpec<Input>,
  call: ToolCall<{ readonly confirm?: string | undefined }>,
): Promise<ToolOutcome> => {
  const { input, dependencies, traceId, mayOperate } = call
  const { engine } = dependencies
  if (!mayOperate) {
    await recordDenial(name, 'auth.forbidden', call)
    return failed('operator_required', { detail: 'this needs the operator token' })
  }
  const { confirm: code, ...rest } = input
  const given = schema.parse(rest)
  const about: Confirmed = { tool: name, arguments: given as unknown as JsonObject }
  const command = commandOf(given, engine.nodeId)
  if (code === undefined) return ask(command, about, dependencies)
  const nowMs = dependencies.clock.now()
  switch (checkConfirmation(code, about, nowMs)) {
    case 'foreign':
      return failed('confirmation_invalid', { detail: 'the code was given for something else' })
    case 'expired':
      return failed('confirmation_expired', { detail: 'call again without confirm' })
    case 'valid': {
      const outcome = await withLogChecked(engine.log, await engine.execute(command, { traceId }))
      if (outcome.status === 'refused') {
        const { code: reason } = outcome.refusal
        if (reason === 'kill_switch.active') await recordDenial(name, 'kill_switch_active', call)
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

/** As in the REST API: missing rights and refusals by the kill switch are audited. */
const recordDenial = async (
  name: ToolName,
  reason: string,
  { dependencies, traceId, requestId }: ToolCall<unknown>,
): Promise<void> => {
  const entry = {
    resource: `mcp:${name}`,
    action: 'write',
    outcome: 'denied',
    reason,
    request_id: requestId,
  } as const
  await dependencies.engine.execute({ kind: 'record-access', surface: 'api', entry }, { traceId })
}

const ask = async (
  command: Command,
  about: Confirmed,
  { engine, clock, configuration, version }: McpDependencies,
): Promise<ToolOutcome> => {
  const rehearsal = await rehearse(engine, command, { clock, configuration: configuration(), version })
  if (rehearsal.status === 'refused') return refusedBy(await knownRefusal(engine.log, rehearsal.refusal))
  const expiresMs = clock.now() + CONFIRMATION_MS
  const value = {
    status: 'confirmation_required',
    confirm: confirmationOf(about, expiresMs),
    expires_at: new Date(expiresMs).toISOString(),
    would_store: summaryOf(rehearsal.events),
  }
  return { status: 'done', value, effect: 'read' }
}

const summaryOf = (stored: readonly Stamped[]): readonly JsonObject[] =>
  stored.map(({ type, payload }) => ({ type, payload }))

const refusedBy = ({ code, detail, extras }: Refusal): ToolOutcome =>
  failed(code.replace('.', '_'), { detail, ...extras })
