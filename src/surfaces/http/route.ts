import type { z } from 'zod'
import type { Command } from '../../core/decide.ts'
import type { Configuration } from '../../core/config/schema.ts'
import type { Json } from '../../core/shared/json.ts'
import type { Answer } from './answers.ts'
import type { ProblemCode } from './problems.ts'
import type { Service } from './service.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** `bearer`: either token. `operator`: the operator token, once one is configured. */
export type Access = 'public' | 'bearer' | 'operator'

/** What a request consists of once it was looked at. */
export interface Parts<Params = unknown, Query = unknown, Headers = unknown, Body = unknown> {
  readonly params: Params
  readonly query: Query
  readonly headers: Headers
  readonly body: Body
  readonly requestId: string
  /** The caller's thread through the log, if it named one. */
  readonly traceId: string | null
  /** The audit entry of a write that succeeds. Who stores it alongside the write says so with `isAudited`. */
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
  readonly access: Access
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
  /** The handler is then given the bytes, and says in its own words what is wrong with them. */
  readonly bodyIsRaw?: true
  /** Turns away web pages of other hosts, whatever token they send. */
  readonly refusesForeignOrigins?: true
  readonly response: Response
  /** How the documentation shows an answer. Every endpoint of ours has one: see openapi.test.ts. */
  readonly example?: DeepReadonly<z.input<Response>>
  readonly responseType?: string
  readonly successStatus?: number
  /** Answers for as long as the client listens: there is no HEAD, and it is measured when it begins. */
  readonly streams?: true
  /** What it says in words of its own besides its success and its problems. */
  readonly otherAnswers?: readonly OtherAnswer[]
  /** Besides those that every endpoint can answer. */
  readonly problems?: readonly ProblemCode[]
  /** Never waits for its turn behind other requests; where only the body tells, that is read before. */
  readonly isUrgent?: true | Judged<Params, Query, Headers, Body>
  /** Requests that may take as long as they need. */
  readonly mayTakeLong?: Judged<Params, Query, Headers, Body>
  readonly handler: (
    parts: Parts<z.output<Params>, z.output<Query>, z.output<Headers>, z.output<Body>>,
    service: Service,
  ) => Answer<DeepReadonly<z.input<Response>>> | Promise<Answer<DeepReadonly<z.input<Response>>>>
}

type Judged<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
> = (parts: Parts<z.output<Params>, z.output<Query>, z.output<Headers>, z.output<Body>>) => boolean

/** `content` is null for an answer without a body. */
export interface OtherAnswer {
  readonly status: number
  readonly description: string
  readonly content: { readonly schema: z.ZodType; readonly example: Json } | null
}

/** Stops where any member may be: JSON of no promised shape has no end that the compiler could see. */
type DeepReadonly<T> = T extends object
  ? string extends keyof T
    ? Readonly<T>
    : { readonly [Member in keyof T]: DeepReadonly<T[Member]> }
  : T

/** A route whose types are checked and forgotten: validation stands between the stranger and the handler. */
export type Route = Omit<AnySpec, 'example' | 'handler' | 'isUrgent' | 'mayTakeLong'> & {
  readonly url: string
  readonly example?: unknown
  readonly isUrgent?: true | ((parts: Parts) => boolean)
  readonly mayTakeLong?: (parts: Parts) => boolean
  readonly handler: (parts: Parts, service: Service) => Answer | Promise<Answer>
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
  ...(spec as unknown as Omit<Route, 'url'>),
  url: spec.atRoot === true ? spec.path : API_PREFIX + spec.path,
})

export const actionOf = ({ method, action }: Pick<Route, 'method' | 'action'>): 'read' | 'write' =>
  action ?? (method === 'GET' ? 'read' : 'write')

/** Who may come in right now. */
export const accessOf = ({ access, publicWhile }: Route, configuration: Configuration): Access =>
  publicWhile?.(configuration) === true ? 'public' : access
