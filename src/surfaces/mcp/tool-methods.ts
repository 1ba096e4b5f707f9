import { z } from 'zod'
import { faultsOf, sentenceOf } from '../../core/shared/faults.ts'
import { isJsonObject } from '../../core/shared/json-object.ts'
import type { Json, JsonObject } from '../../core/shared/json.ts'
import { TOOLS, type ToolName } from '../../core/views/capabilities.ts'
import { isMadeInAName, maySpeakFor, mayDo, scopeFor, type Caller } from '../caller.ts'
import { RPC_CODES, type MethodResult } from './json-rpc.ts'
import { failed, recordDenial, type CallContext, type Tool, type ToolOutcome } from './tool.ts'
import { failedResult, foundResult } from './tool-result.ts'
import { backtestTools } from './tools/backtests.ts'
import { operatorTools } from './tools/operator.ts'
import { readingTools } from './tools/reading.ts'
import { emitProducerSignal } from './tools/emit.ts'

/** Every tool. A new tool needs its name in TOOLS in core/views/capabilities.ts, and its entry in one of these. */
const TOOL_BY_NAME: Readonly<Record<ToolName, Tool>> = {
  ...readingTools,
  ...operatorTools,
  ...backtestTools,
  emit_producer_signal: emitProducerSignal,
}

/** `tools/call`: finds the tool, checks its arguments, calls it, and turns its outcome into the protocol's form. */
export const callTool = async (params: unknown, call: CallContext): Promise<MethodResult> => {
  const { name, arguments: given } = isJsonObject(params) ? params : {}
  if (typeof name !== 'string') return invalid('name is required and must be a string')
  const tool = Object.hasOwn(TOOL_BY_NAME, name) ? TOOL_BY_NAME[name as ToolName] : null
  if (tool === null) return invalid('no tool has this name; tools/list names all')
  const parsed = argumentsOf(tool, given)
  if (parsed.status === 'refused') return parsed.result
  const called = { ...call, name, input: parsed.input }
  const denial = denialOf(tool, called.input, call.caller)
  if (denial === null) return resultOf(await tool.call(called))
  await recordDenial(denial.code, called)
  return resultOf(failed(denial.error, { detail: denial.detail }))
}

/** The right that the caller lacks, as for routes. Null if the caller may use the tool. */
const denialOf = ({ needs, author }: Tool, input: unknown, caller: Caller) => {
  if (!mayDo(caller, needs)) {
    return caller.kind === 'key'
      ? {
          code: 'auth.scope_missing',
          error: 'scope_missing',
          detail: `the key needs the scope ${scopeFor(needs)}`,
        }
      : { code: 'auth.forbidden', error: 'operator_required', detail: 'this needs the operator token' }
  }
  if (!isMadeInAName(needs) || maySpeakFor(caller, author?.(input))) return null
  const detail = 'the access key speaks for another contributor or producer'
  return { code: 'auth.author_mismatch', error: 'author_mismatch', detail }
}

type Parsed =
  | { readonly status: 'parsed'; readonly input: unknown }
  | { readonly status: 'refused'; readonly result: MethodResult }

const argumentsOf = ({ input }: Tool, given: unknown = {}): Parsed => {
  if (!isJsonObject(given)) return { status: 'refused', result: invalid('arguments must be an object') }
  const parsed = input.safeParse(given)
  if (parsed.success) return { status: 'parsed', input: parsed.data }
  const faults = faultsOf(parsed.error, ['arguments'], { input: given })
  return {
    status: 'refused',
    result: invalid(faults.slice(0, FAULTS_IN_MESSAGE).map(sentenceOf).join('; '), {
      errors: faults as unknown as Json,
    }),
  }
}

/** Number of faults in the message. All faults are in `data`. */
const FAULTS_IN_MESSAGE = 10

const invalid = (message: string, data?: JsonObject): MethodResult => ({
  status: 'failed',
  error: { code: RPC_CODES.invalidParams, message, ...(data === undefined ? {} : { data }) },
})

const resultOf = (outcome: ToolOutcome): MethodResult => {
  switch (outcome.status) {
    case 'invalid':
      return invalid(outcome.message)
    case 'failed':
      return { status: 'done', result: failedResult(outcome.error), effect: 'none' }
    case 'done':
      return { status: 'done', result: foundResult(outcome.value), effect: outcome.effect }
  }
}

/** `tools/list`, in the order in which tools are listed everywhere. */
export const toolList = (): readonly JsonObject[] => TOOLS.map(entryOf)

const entryOf = ({ name, description }: (typeof TOOLS)[number]): JsonObject => {
  const { title, advice, input, output, needs } = TOOL_BY_NAME[name]
  return {
    name,
    title,
    description: advice === undefined ? description : `${description} ${advice}`,
    inputSchema: schemaOf(input),
    outputSchema: schemaOf(output),
    // Hints for clients that decide whether a model may call the tool.
    annotations: {
      readOnlyHint: needs === 'read',
      destructiveHint: needs === 'operator',
      idempotentHint: needs === 'read',
      openWorldHint: false,
    },
  }
}

/** Converted as an input schema, so that it allows members that are added later. */
const schemaOf = (schema: z.ZodType): JsonObject => {
  const { $schema: _dialect, ...written } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override,
  })
  // Older clients require `type: object`, which a union of objects does not have.
  return { type: 'object', ...written } as unknown as JsonObject
}

type SchemaContext = Parameters<NonNullable<z.core.ToJSONSchemaParams['override']>>[0]

/** Removes the bounds of doubles, which carry no information. */
const override = ({ jsonSchema }: SchemaContext): void => {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}
