import { z } from 'zod'
import type { Configuration } from '../../core/config/schema.ts'
import type { Command } from '../../core/decide.ts'
import type { Stamped } from '../../core/log/event.ts'
import type { Json } from '../../core/shared/json.ts'
import type { KeyAuthor } from '../../core/operations/access-keys.ts'
import type { Caller, Need } from '../caller.ts'
import type { ProblemCode } from '../problem-codes.ts'
import type { HttpDependencies } from './dependencies.ts'
import type { Metrics } from './metrics.ts'
import type { Readiness } from './readiness.ts'
import type { RouteResult } from './results.ts'
import type { ProgressStreams, RunStreams } from './stream/progress.ts'
import type { StreamHub } from './stream/hub.ts'
import type { Verification } from './verification.ts'

/** Dependencies of handlers: those given to the server, and those it creates itself. */
export interface Service extends HttpDependencies {
  readonly metrics: Metrics
  readonly readiness: Readiness
  readonly verification: Verification
  /** True if the newest events verified a moment ago. */
  readonly recentChainOk: () => Promise<boolean>
  readonly streams: StreamHub
  readonly progressStreams: ProgressStreams
  readonly runStreams: RunStreams
  /** The OpenAPI document as JSON. */
  readonly openApiText: () => Promise<string>
}

/** A validated request. */
export interface RequestInput<Params = unknown, Query = unknown, Headers = unknown, Body = unknown> {
  readonly params: Params
  readonly query: Query
  readonly headers: Headers
  readonly body: Body
  readonly caller: Caller
  readonly requestId: string
  /** Local address on which the connection arrived. */
  readonly ownAddress: string
  /** From `X-Trace-Id`; becomes `trace_id` of the events that the request writes. */
  readonly traceId: string | null
  readonly execute: Execute
}

/**
 * Executes a command for the request. Returns its refusal as a problem, or the result of `bodyOf` for the stored
 * events.
 */
export type Execute = <Body>(
  command: Command,
  bodyOf: (events: readonly Stamped[]) => Body | Promise<Body>,
  options?: {
    /** Replaces the trace id of the request. */
    readonly traceId?: string
    /** Stores the audit entry together with the events, with this reason. */
    readonly auditedAs?: { readonly reason: string | null }
    /** Headers that are sent when the command had been executed before. */
    readonly replayHeaders?: Readonly<Record<string, string>>
  },
) => Promise<RouteResult<Body>>

/**
 * Specification of an endpoint without its method, path and need. Validation, documentation and types all derive from
 * it.
 */
interface RouteSpec<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Response extends z.ZodType,
  Input = RequestInput<z.output<Params>, z.output<Query>, z.output<Headers>, z.output<Body>>,
> {
  /** Places the path outside of `/api/v1`. */
  readonly atRoot?: true
  /** Makes a protected endpoint public while this returns true for the configuration. */
  readonly publicWhile?: (configuration: Configuration) => boolean
  /** Action in the audit. Default: `read` if the endpoint needs only that right. */
  readonly action?: 'read' | 'write'
  readonly summary: string
  readonly description?: string
  readonly params?: Params
  readonly query?: Query
  readonly headers?: Headers
  /** Schema of the body. Without a schema any body is ignored. An optional body may be left out. */
  readonly body?: Body
  /** Gives the handler the raw bytes. It reports their errors itself. */
  readonly bodyIsRaw?: true
  /** Refuses web pages of other hosts, whatever token they send. */
  readonly refusesForeignOrigins?: true
  readonly response: Response
  /** An example response for the documentation. Every endpoint has one: see openapi.test.ts. */
  readonly example?: DeepReadonly<z.input<Response>>
  readonly responseType?: string
  readonly successStatus?: number
  /** The response stays open: HEAD is not supported, and the duration is measured at its start. */
  readonly streams?: true
  /** Responses other than its success and its problems. */
  readonly otherResponses?: readonly OtherResponse[]
  /** Problems other than those that every endpoint, or every endpoint of its kind, can return. */
  readonly problems?: readonly ProblemCode[]
  /** Exempts requests from queueing behind others. A function is called after the body was read. */
  readonly isUrgent?: true | ((input: Input) => boolean)
  /** Exempts requests from the rate limit. A function is called after the body was read. */
  readonly reducesRisk?: true | ((input: Input, service: Service) => boolean)
  /**
   * Author of a write; null for a write without an author. Without this member no key that is bound to an author may
   * call the route.
   */
  readonly author?: (input: Input) => KeyAuthor | null | undefined
  /** True for requests without a time limit. */
  readonly mayTakeLong?: (input: Input) => boolean
  readonly handler: (
    input: Input,
    service: Service,
  ) => RouteResult<DeepReadonly<z.input<Response>>> | Promise<RouteResult<DeepReadonly<z.input<Response>>>>
}

/** `content` is null for a response without a body. */
export interface OtherResponse {
  readonly status: number
  readonly description: string
  readonly content: { readonly schema: z.ZodType; readonly example: Json } | null
}

/** Stops at free-form objects, because the type of JSON is endlessly recursive. */
type DeepReadonly<T> = T extends object
  ? string extends keyof T
    ? Readonly<T>
    : { readonly [Member in keyof T]: DeepReadonly<T[Member]> }
  : T

/** A route whose types were checked by `route`; validation guarantees them at run time. */
export interface Route extends UnnamedRoute {
  readonly operationId: string
  readonly tag: string
}

interface UnnamedRoute extends Omit<AnySpec, 'example'> {
  readonly method: Method
  /** Below `/api/v1`, with `:name` for parameters. */
  readonly path: string
  readonly url: string
  readonly needs: Need
  readonly example?: unknown
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

type AnySpec = RouteSpec<z.ZodType, z.ZodType, z.ZodType, z.ZodType, z.ZodType, RequestInput>

export const API_PREFIX = '/api/v1'

/** Endpoints of one tag, by the name of their operation. */
export const routes = (tag: string, named: Readonly<Record<string, UnnamedRoute>>): readonly Route[] =>
  Object.entries(named).map(([operationId, unnamed]) => ({ ...unnamed, operationId, tag }))

export const route = <
  Params extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Headers extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
  Response extends z.ZodType = z.ZodUnknown,
>(
  method: Method,
  path: string,
  needs: Need,
  spec: RouteSpec<Params, Query, Headers, Body, Response>,
): UnnamedRoute => ({
  ...(spec as unknown as AnySpec),
  method,
  path,
  needs,
  url: spec.atRoot === true ? path : API_PREFIX + path,
})

export const actionOf = ({ needs, action }: Route): 'read' | 'write' =>
  action ?? (needs === 'read' || needs === 'public' ? 'read' : 'write')

export const bodyIsOptional = ({ body }: Route): boolean => body instanceof z.ZodOptional

/** Right that a caller needs under this configuration. */
export const needOf = ({ needs, publicWhile }: Route, configuration: Configuration): Need =>
  publicWhile?.(configuration) === true ? 'public' : needs
