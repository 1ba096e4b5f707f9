import { z } from 'zod'
import { faultsOf, sentenceOf } from '../../core/shared/faults.ts'
import { isJsonObject } from '../../core/shared/json-object.ts'
import type { Json, JsonObject } from '../../core/shared/json.ts'
import { TOOLS } from '../../core/views/capabilities.ts'
import { RPC_CODES, type MethodResult } from './json-rpc.ts'
import type { CallContext, Tool, ToolOutcome } from './tool.ts'
import { failedResult, foundResult } from './tool-result.ts'
import { TOOL_BY_NAME } from './tools/all.ts'

/** `tools/call`: finds the tool, checks its arguments, calls it, and turns its outcome into the protocol's form. */
export const callTool = async (params: unknown, call: CallContext): Promise<MethodResult> => {
  const { name, arguments: given } = isJsonObject(params) ? params : {}
  if (typeof name !== 'string') return invalid('name is required and must be a string')
  const tool = toolNamed(name)
  if (tool === null) return invalid('no tool has this name; tools/list names all')
  const parsed = argumentsOf(tool, given)
  if (parsed.status === 'refused') return parsed.result
  return resultOf(await tool.call({ input: parsed.input, ...call }))
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

/** All faults are in `data`. */
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
export const toolList = (): readonly JsonObject[] => (made ??= TOOLS.map(entryOf))

/** Null if no tool has this name. */
const toolNamed = (name: string): Tool | null =>
  Object.hasOwn(TOOL_BY_NAME, name) ? ((TOOL_BY_NAME as Readonly<Record<string, Tool>>)[name] ?? null) : null

// Built once: it takes a while and never changes.
let made: readonly JsonObject[] | null = null

const entryOf = ({ name, description }: (typeof TOOLS)[number]): JsonObject => {
  const { title, advice, input, output, annotations } = TOOL_BY_NAME[name]
  return {
    name,
    title,
    description: advice === undefined ? description : `${description} ${advice}`,
    inputSchema: schemaOf(input),
    outputSchema: schemaOf(output),
    annotations: { ...annotations },
  }
}

/** As input, so that the schema allows members that are added later. */
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

/** The bounds of doubles carry no information. */
const override = ({ jsonSchema }: SchemaContext): void => {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}
