import { faultsOf, sentenceOf } from '../../core/vocabulary/faults.ts'
import type { Json, JsonObject } from '../../core/vocabulary/json.ts'
import type { McpHouse } from './house.ts'
import { RPC_CODES } from './json-rpc.ts'
import { firstThatFit, TEXT_BYTES_MAX, withShortTexts } from './limits.ts'
import type { Answered } from './method.ts'
import { isObject } from './objects.ts'
import type { Tool, ToolOutcome } from './tool.ts'
import { toolNamed } from './tools/in-order.ts'

export interface Call {
  readonly house: McpHouse
  readonly traceId: string | null
}

/** `tools/call`: finds the tool, looks at its arguments, calls it, and puts its outcome into the protocol's form. */
export const callTool = async (params: unknown, { house, traceId }: Call): Promise<Answered> => {
  const name = isObject(params) ? params['name'] : undefined
  if (typeof name !== 'string') return invalid('name is required and must be a string')
  const tool = toolNamed(name)
  if (tool === null) return invalid('no tool has this name; tools/list names all')
  const parsed = argumentsOf(tool, isObject(params) ? params['arguments'] : undefined)
  if (parsed.status === 'refused') return parsed.answer
  return answerOf(await tool.call({ input: parsed.input, house, traceId }))
}

type Parsed =
  | { readonly status: 'parsed'; readonly input: unknown }
  | { readonly status: 'refused'; readonly answer: Answered }

const argumentsOf = ({ input }: Tool, given: unknown = {}): Parsed => {
  if (!isObject(given)) return { status: 'refused', answer: invalid('arguments must be an object') }
  const parsed = input.safeParse(given)
  if (parsed.success) return { status: 'parsed', input: parsed.data }
  const faults = faultsOf(parsed.error, ['arguments'], { input: given })
  return {
    status: 'refused',
    answer: invalid(faults.map(sentenceOf).join('; '), { errors: faults as unknown as Json }),
  }
}

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
      return { status: 'done', result: resultOf(withShortTexts(outcome.value)), effect: outcome.effect }
  }
}

const resultOf = (value: JsonObject | readonly Json[]): JsonObject =>
  isList(value) ? listResult(value) : objectResult(value)

const objectResult = (value: JsonObject): JsonObject => {
  const text = JSON.stringify(value)
  return Buffer.byteLength(text) > TEXT_BYTES_MAX
    ? failedResult({ error: 'result_too_large', limit_bytes: TEXT_BYTES_MAX })
    : { content: [textBlock(text)], structuredContent: value, isError: false }
}

/** The text is the bare list; what was left out is said beside it. */
const listResult = (items: readonly Json[]): JsonObject => {
  const { kept, leftOut } = firstThatFit(items)
  const content = [textBlock(JSON.stringify(kept))]
  if (leftOut === 0) return { content, structuredContent: { items: kept }, isError: false }
  const note = `${leftOut} more items did not fit into ${TEXT_BYTES_MAX} bytes. Ask for fewer.`
  return {
    content: [...content, textBlock(note)],
    structuredContent: { items: kept, left_out: leftOut },
    isError: false,
  }
}

const failedResult = (error: JsonObject): JsonObject => ({
  content: [textBlock(JSON.stringify(error))],
  structuredContent: error,
  isError: true,
})

const textBlock = (text: string): JsonObject => ({ type: 'text', text })

const isList = (value: JsonObject | readonly Json[]): value is readonly Json[] => Array.isArray(value)
