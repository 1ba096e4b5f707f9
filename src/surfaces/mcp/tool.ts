import { z } from 'zod'
import type { BacktestRuns } from '../../backtest/runs/runs.ts'
import type { Configuration } from '../../core/config/schema.ts'
import { echoedObject } from '../../core/shared/echo.ts'
import type { Json, JsonObject } from '../../core/shared/json.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { KeyAuthor } from '../../core/operations/access-keys.ts'
import { keyNameOf, type Caller, type Need } from '../caller.ts'
import { isDenialStored } from '../denials.ts'

/** Dependencies of the MCP endpoint. */
export interface McpDependencies {
  readonly engine: Engine
  /** The current settings. */
  readonly configuration: () => Configuration
  readonly backtests: BacktestRuns
  readonly logger: Logger
  readonly clock: Clock
  /** True if the newest events verify. */
  readonly recentChainOk: () => Promise<boolean>
  readonly version: string
}

/** An error that the model should see and act on, such as an unknown id. */
export interface FailedOutcome {
  readonly status: 'failed'
  readonly error: JsonObject
}

export type ToolOutcome =
  | {
      readonly status: 'done'
      readonly value: JsonObject | readonly JsonObject[]
      readonly effect: 'none' | 'read' | 'written'
    }
  | FailedOutcome
  /** Arguments are invalid in a way that only the engine can detect. */
  | { readonly status: 'invalid'; readonly message: string }

/** The context of one `tools/call`. */
export interface CallContext {
  readonly dependencies: McpDependencies
  readonly traceId: string | null
  readonly requestId: string
  readonly caller: Caller
}

export interface ToolCall<Input> extends CallContext {
  readonly name: string
  readonly input: Input
}

/** Specification of a tool without its need. Validation, documentation and types all derive from it. */
interface ToolSpec<Input extends z.ZodObject> {
  readonly title: string
  /** Advice for models, in addition to the purpose of the tool. */
  readonly advice?: string
  readonly input: Input
  /** Schema of `structuredContent`. It is an object, even if the text is a list. */
  readonly output: z.ZodType
  /** Author of a write, as for routes. */
  readonly author?: (input: z.output<Input>) => KeyAuthor | null
  readonly call: (call: ToolCall<z.output<Input>>) => Promise<ToolOutcome>
}

/** A tool whose types were checked by `tool`; its schema guarantees them at run time. */
export interface Tool extends Omit<ToolSpec<z.ZodObject>, 'call' | 'author'> {
  readonly needs: Need
  readonly author?: (input: unknown) => KeyAuthor | null
  readonly call: (call: ToolCall<unknown>) => Promise<ToolOutcome>
}

export const tool = <Input extends z.ZodObject>(needs: Need, spec: ToolSpec<Input>): Tool => ({
  ...(spec as unknown as Omit<Tool, 'needs'>),
  needs,
})

/** Audits missing rights and refusals by the kill switch, as the REST API does. */
export const recordDenial = async (
  reason: string,
  { name, dependencies, traceId, requestId, caller }: ToolCall<unknown>,
): Promise<void> => {
  if (reason.startsWith('auth.') && !isDenialStored(dependencies.engine, caller)) return
  const entry = {
    resource: `mcp:${name}`,
    action: 'write',
    outcome: 'denied',
    reason,
    request_id: requestId,
    ...keyNameOf(caller),
  } as const
  await dependencies.engine.execute({ kind: 'record-access', surface: 'api', entry }, { traceId })
}

/** The result of a read. */
export const found = (value: object): ToolOutcome => ({
  status: 'done',
  value: value as JsonObject | readonly JsonObject[],
  effect: 'read',
})

export const failed = (error: string, about: Readonly<Record<string, Json>>): FailedOutcome => ({
  status: 'failed',
  error: { error, ...echoedObject(about) },
})

/** Schema of a result, or of an error with `isError`. */
export const orError = (output: z.ZodType, codes: readonly [string, ...string[]]) =>
  z.union([output, z.looseObject({ error: z.enum(codes) })])

export const itemsOf = (item: z.ZodType) =>
  z.object({
    items: z.array(item),
    left_out: z.int().optional().meta({ description: 'how many more items did not fit into the answer' }),
  })
