import type { z } from 'zod'
import type { Command } from '../../core/decide.ts'
import type { Configuration } from '../../core/config/schema.ts'
import type { Json } from '../../core/shared/json.ts'
import type { HttpDependencies } from './dependencies.ts'
import type { Metrics } from './metrics.ts'
import type { ProblemCode } from './problems.ts'
import type { RouteResult } from './results.ts'
import type { StreamHub } from './stream/hub.ts'
import type { Verification } from './verification.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** `bearer`: either token. `operator`: the operator token, once one is configured. */
export type Access = 'public' | 'bearer' | 'operator'

/** What handlers can use: what the server was given, and what it keeps itself. */
export interface Service extends HttpDependencies {
  readonly metrics: Metrics
  readonly verification: Verification
  /** Whether the newest events verify, as of a moment ago. */
  readonly recentChainOk: () => Promise<boolean>
  readonly streams: StreamHub
  /** The OpenAPI document as JSON. */
  readonly openApiText: () => Promise<string>
}

/** What a request consists of once it is validated. */
export interface RequestInput<Params = unknown, Query = unknown, Headers = unknown, Body = unknown> {
  readonly params: Params
  readonly query: Query
  readonly headers: Headers
  readonly body: Body
  readonly requestId: string
  /** From `X-Trace-Id`; becomes `trace_id` of the events that the request writes. */
  readonly traceId: string | null
  /** The audit entry of a write that succeeds. A handler that stores it alongside the write returns `isAudited`. */
  readonly writeEntry: WriteEntry
  /** For endpoints that do more for operators. */
  readonly mayOperate: () => boolean
}

export type WriteEntry = Extract<Command, { kind: 'record-access' }>

/** One endpoint: validation, documentation and types all come from here. */
export interface RouteSpec<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Response extends z.ZodType,
> {
  readonly method: Method
  /** Below `/api/v1`, with `:name` for parameters. */
  readonly path: string
  /** The path stands outside of `/api/v1`. */
  readonly atRoot?: true
  /** `bearer` unless it says otherwise. */
  readonly access?: Access
  /** Makes a protected endpoint public while the configuration says so. */
  readonly publicWhile?: (configuration: Configuration) => boolean
  /** What the audit calls it; by default `read` for GET, else `write`. */
  readonly action?: 'read' | 'write'
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly params?: Params
  readonly query?: Query
  readonly headers?: Headers
  /** Without it any body is ignored. */
  readonly body?: Body
  /** The handler is then given `undefined` for an absent body. */
  readonly bodyIsOptional?: true
  /** The handler is then given the bytes, and reports itself what is wrong with them. */
  readonly bodyIsRaw?: true
  /** Refuses web pages of other hosts, whatever token they send. */
  readonly refusesForeignOrigins?: true
  readonly response: Response
  /** A response for the documentation. Every endpoint has one: see openapi.test.ts. */
  readonly example?: DeepReadonly<z.input<Response>>
  readonly responseType?: string
  readonly successStatus?: number
  /** The response stays open: there is no HEAD, and it is measured when it begins. */
  readonly streams?: true
  /** Responses besides its success and its problems. */
  readonly otherResponses?: readonly OtherResponse[]
  /** Besides those that every endpoint, or every endpoint of its kind, can answer. */
  readonly problems?: readonly ProblemCode[]
  /** Does not wait for its turn behind other requests. Where it depends on the body, that is read first. */
  readonly isUrgent?: true | InputTest<Params, Query, Headers, Body>
  /** Requests that may take as long as they need. */
  readonly mayTakeLong?: InputTest<Params, Query, Headers, Body>
  readonly handler: (
    input: RequestInput<z.output<Params>, z.output<Query>, z.output<Headers>, z.output<Body>>,
    service: Service,
  ) => RouteResult<DeepReadonly<z.input<Response>>> | Promise<RouteResult<DeepReadonly<z.input<Response>>>>
}

type InputTest<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
> = (input: RequestInput<z.output<Params>, z.output<Query>, z.output<Headers>, z.output<Body>>) => boolean

/** `content` is null for a response without a body. */
export interface OtherResponse {
  readonly status: number
  readonly description: string
  readonly content: { readonly schema: z.ZodType; readonly example: Json } | null
}

/** Stops at free-form objects: the type of JSON is recursive without end. */
type DeepReadonly<T> = T extends object
  ? string extends keyof T
    ? Readonly<T>
    : { readonly [Member in keyof T]: DeepReadonly<T[Member]> }
  : T

/** A route whose types were checked by `defineRoute`; validation guarantees them at run time. */
export type Route = Omit<AnySpec, 'access' | 'example' | 'handler' | 'isUrgent' | 'mayTakeLong'> & {
  readonly url: string
  readonly access: Access
  readonly example?: unknown
  readonly isUrgent?: true | ((input: RequestInput) => boolean)
  readonly mayTakeLong?: (input: RequestInput) => boolean
  readonly handler: (input: RequestInput, service: Service) => RouteResult | Promise<RouteResult>
}

type AnySpec = RouteSpec<z.ZodType, z.ZodType, z.ZodType, z.ZodType, z.ZodType>

export const API_PREFIX = '/api/v1'

export const defineRoute = <
  Params extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Headers extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
  Response extends z.ZodType = z.ZodUnknown,
>(
  spec: RouteSpec<Params, Query, Headers, Body, Response>,
): Route => ({
  access: 'bearer',
  ...(spec as unknown as Omit<Route, 'url' | 'access'>),
  url: spec.atRoot === true ? spec.path : API_PREFIX + spec.path,
})

export const actionOf = ({ method, action }: Pick<Route, 'method' | 'action'>): 'read' | 'write' =>
  action ?? (method === 'GET' ? 'read' : 'write')

/** Who may call it under this configuration. */
export const accessOf = ({ access, publicWhile }: Route, configuration: Configuration): Access =>
  publicWhile?.(configuration) === true ? 'public' : access
