import { faultsOf, sentenceOf } from '../../core/shared/faults.ts'
import { isJsonObject } from '../../core/shared/json-object.ts'
import type { Json, JsonObject } from '../../core/shared/json.ts'
import type { Answered } from './answered.ts'
import type { McpDependencies } from './dependencies.ts'
import { RPC_CODES } from './json-rpc.ts'
import type { Tool, ToolOutcome } from './tool.ts'
import { toolNamed } from './tool-list.ts'
import { failedResult, foundResult } from './tool-result.ts'

export interface Call {
  readonly house: McpDependencies
  readonly traceId: string | null
  readonly requestId: string
  readonly mayOperate: boolean
}

/** `tools/call`: finds the tool, looks at its arguments, calls it, and puts its outcome into the protocol's form. */
export const callTool = async (params: unknown, call: Call): Promise<Answered> => {
  const { name, arguments: given } = isJsonObject(params) ? params : {}
  if (typeof name !== 'string') return invalid('name is required and must be a string')
  const tool = toolNamed(name)
  if (tool === null) return invalid('no tool has this name; tools/list names all')
  const parsed = argumentsOf(tool, given)
  if (parsed.status === 'refused') return parsed.answer
  return answerOf(await tool.call({ input: parsed.input, ...call }))
}

type Parsed =
  | { readonly status: 'parsed'; readonly input: unknown }
  | { readonly status: 'refused'; readonly answer: Answered }

const argumentsOf = ({ input }: Tool, given: unknown = {}): Parsed => {
  if (!isJsonObject(given)) return { status: 'refused', answer: invalid('arguments must be an object') }
  const parsed = input.safeParse(given)
  if (parsed.success) return { status: 'parsed', input: parsed.data }
  const faults = faultsOf(parsed.error, ['arguments'], { input: given })
  return {
    status: 'refused',
    answer: invalid(faults.slice(0, FAULTS_TOLD).map(sentenceOf).join('; '), {
      errors: faults as unknown as Json,
    }),
  }
}

/** In one sentence; all of them stand beside it. */
const FAULTS_TOLD = 10

const invalid = (message: string, data?: JsonObject): Answered => ({
  status: 'failed',
  error: { code: RPC_CODES.invalidParams, message, ...(data === undefined ? {} : { data }) },
})

const answerOf = (outcome: ToolOutcome): Answered => {
  switch (outcome.status) {
    case 'invalid':
      return invalid(outcome.message)
    case 'failed':
      return { status: 'done', result: failedResult(outcome.error), effect: 'none' }
    case 'done':
      return { status: 'done', result: foundResult(outcome.value), effect: outcome.effect }
  }
}
