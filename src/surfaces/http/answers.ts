import type { ServerResponse } from 'node:http'
import type { Outcome } from '../../engine/plan.ts'
import type { Refusal } from '../../core/shared/decision.ts'
import type { Stamped } from '../../core/log/event.ts'
import { problem, type Problem } from './problems.ts'

export const JSON_TYPE = 'application/json'

/** What a handler says. `Body` is the shape that the route promises. */
export type Answer<Body = unknown> = Success<Body> | Refused | Streaming

export type Success<Body = unknown> = Content<Body> & {
  readonly kind: 'success'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** A write that found everything as it should be: nothing was stored, so nothing is audited. */
  readonly unchanged: boolean
  /** The audit entry was stored together with the write. */
  readonly isAudited: boolean
  /** What the audit calls this one request, where the route alone does not say. */
  readonly action?: 'read' | 'write'
}

type Content<Body> =
  | { readonly form: 'value'; readonly body: Body }
  /** Finished text, for answers that are put together from stored text. */
  | { readonly form: 'text'; readonly text: string; readonly contentType: string }
  | { readonly form: 'empty' }

export interface Refused {
  readonly kind: 'refused'
  readonly problem: Problem
}

/** The answer is written for as long as the client listens. Only for routes that say so: see `streams`. */
export interface Streaming {
  readonly kind: 'stream'
  /** Takes the connection over, or says why not and leaves it untouched. */
  readonly open: (line: OpenLine) => Problem | null
}

/** A connection that waits for the first byte of its answer. */
export interface OpenLine {
  readonly response: ServerResponse
  readonly requestId: string
  /** Sends status 200, the headers that every answer has, these, and the first bytes. */
  readonly begin: (headers: Readonly<Record<string, string>>, first: Buffer) => void
  readonly onClosed: (listener: () => void) => void
  /** Whether the token that opened it would still do so. */
  readonly isWelcome: () => boolean
}

interface SuccessOptions {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly unchanged?: boolean
  readonly isAudited?: boolean
  readonly action?: 'read' | 'write'
}

export const ok = <const Body>(body: Body, options: SuccessOptions = {}): Success<Body> => ({
  form: 'value',
  body,
  ...common(options),
})

/** Text that is known to be JSON of the promised shape. */
export const okJsonText = (text: string, options: SuccessOptions = {}): Success<never> =>
  okText(text, JSON_TYPE, options)

export const okText = (text: string, contentType: string, options: SuccessOptions = {}): Success<never> => ({
  form: 'text',
  text,
  contentType,
  ...common(options),
})

/** Heard, and nothing to say. */
export const okEmpty = (options: SuccessOptions): Success<never> => ({ form: 'empty', ...common(options) })

export const stream = (open: Streaming['open']): Streaming => ({ kind: 'stream', open })

export const refused = (...args: Parameters<typeof problem>): Refused => ({
  kind: 'refused',
  problem: problem(...args),
})

/** A command's outcome: the refusal in HTTP's words, or what `bodyOf` makes of the stored events. */
export const answerTo = <Body>(
  outcome: Outcome,
  bodyOf: (events: readonly Stamped[]) => Body,
  options: Pick<SuccessOptions, 'status' | 'headers' | 'isAudited'> = {},
): Answer<Body> => {
  if (outcome.status === 'refused') return refusedBy(outcome.refusal)
  const unchanged = outcome.replayed || outcome.events.length === 0
  return ok(bodyOf(outcome.events), { ...options, unchanged })
}

const refusedBy = ({ code, detail, extras }: Refusal): Refused => refused(code, detail, { extras })

const common = ({
  status = 200,
  headers = {},
  unchanged = false,
  isAudited = false,
  action,
}: SuccessOptions): Omit<Success, keyof Content<unknown>> & { readonly kind: 'success' } => ({
  kind: 'success',
  status,
  headers,
  unchanged,
  isAudited,
  ...(action === undefined ? {} : { action }),
})
