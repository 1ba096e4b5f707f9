import { z } from 'zod'
import type { Json, JsonObject } from '../../core/shared/json.ts'
import type { McpDependencies } from './dependencies.ts'

/** What a client may assume before it lets a model call the tool. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

export type ToolOutcome =
  | {
      readonly status: 'done'
      readonly value: JsonObject | readonly JsonObject[]
      readonly effect: 'none' | 'read' | 'written'
    }
  /** An answer that the model should see and act on, such as an unknown id. */
  | { readonly status: 'failed'; readonly error: JsonObject }
  /** Arguments that are wrong for reasons which only the engine knows. */
  | { readonly status: 'invalid'; readonly message: string }

export interface ToolCall<Arguments> {
  readonly input: Arguments
  readonly house: McpDependencies
  readonly traceId: string | null
  readonly requestId: string
  /** Whether the caller may do what only operators may. */
  readonly mayOperate: boolean
}

/** One tool: validation, documentation and types all come from here. */
interface ToolSpec<Input extends z.ZodObject> {
  readonly title: string
  /** What a model should know beyond what the tool is for. */
  readonly advice?: string
  readonly annotations: ToolAnnotations
  readonly input: Input
  /** What `structuredContent` is: an object, also where the text is a list. */
  readonly output: z.ZodType
  readonly call: (call: ToolCall<z.output<Input>>) => Promise<ToolOutcome>
}

/** A tool whose types are checked and forgotten: its schema stands between the stranger and the call. */
export type Tool = Omit<ToolSpec<z.ZodObject>, 'call'> & {
  readonly call: (call: ToolCall<unknown>) => Promise<ToolOutcome>
}

export const defineTool = <Input extends z.ZodObject>(spec: ToolSpec<Input>): Tool => spec as unknown as Tool

export const READS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}

/** What was read, as every view gives it. */
export const found = (value: object): ToolOutcome => ({
  status: 'done',
  value: value as JsonObject | readonly JsonObject[],
  effect: 'read',
})

export const failed = (error: string, about: Readonly<Record<string, Json>>): ToolOutcome => ({
  status: 'failed',
  error: { error, ...about },
})

/** A result, or what is said instead of one with `isError`. */
export const orError = (output: z.ZodType, codes: readonly [string, ...string[]]) =>
  z.union([output, z.looseObject({ error: z.enum(codes) })])

export const itemsOf = (item: z.ZodType) =>
  z.object({
    items: z.array(item),
    left_out: z.int().optional().meta({ description: 'how many more items did not fit into the answer' }),
  })
