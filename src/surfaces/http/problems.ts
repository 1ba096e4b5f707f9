import { echoedObject, oneLine } from '../../core/shared/echo.ts'
import { sentenceOf, type Fault } from '../../core/shared/faults.ts'
import type { Json, JsonObject } from '../../core/shared/json.ts'
import { EXAMPLE_ID, PROBLEM_KINDS, TITLES, type ProblemCode } from '../problem-codes.ts'

export const PROBLEM_TYPE = 'application/problem+json'

/** The whole body: clients rely on this exact text. */
const BARE: Readonly<Partial<Record<ProblemCode, JsonObject>>> = {
  'position.not_found': { detail: 'Position not found' },
}

export const PROBLEM_CODES = Object.keys(PROBLEM_KINDS).toSorted() as readonly ProblemCode[]

/** The request id is added when it is sent. */
export interface Problem {
  readonly code: ProblemCode
  readonly detail: string
  readonly extras: JsonObject
  readonly headers: Readonly<Record<string, string>>
}

export const problem = (
  code: ProblemCode,
  detail: string,
  { extras = {}, headers = {} }: Partial<Pick<Problem, 'extras' | 'headers'>> = {},
): Problem => {
  const wait = RETRY_AFTER_SECONDS[code] ?? 5
  const retry = statusOf(code) === 503 ? { 'retry-after': String(wait) } : {}
  // `errors` are made by `faultsOf`, which shows what was sent as it may be shown.
  const { errors, ...others } = extras
  const shown = { ...echoedObject(others), ...(errors === undefined ? {} : { errors }) }
  return { code, detail: oneLine(detail), extras: shown, headers: { ...retry, ...headers } }
}

/** A store that is back is found within two seconds. */
const RETRY_AFTER_SECONDS: Readonly<Partial<Record<ProblemCode, number>>> = {
  'store.busy': 1,
  'store.unavailable': 2,
  'server.not_ready': 1,
}

/** All faults at once; `detail` is the first one. */
export const invalidProblem = (
  faults: readonly Fault[],
  code: Extract<
    ProblemCode,
    'request.invalid' | 'config.invalid' | 'karma.settlement_rejected' | 'auth.forbidden'
  > = 'request.invalid',
): Problem => {
  const [first, ...others] = faults
  const sentence = first === undefined ? 'The request is not valid' : sentenceOf(first)
  const detail = others.length === 0 ? sentence : `${sentence} (and ${others.length} more)`
  return problem(code, detail, { extras: { errors: faults as unknown as Json } })
}

export const statusOf = (code: ProblemCode): keyof typeof TITLES => PROBLEM_KINDS[code][0]

export const titleOf = (code: ProblemCode): string => TITLES[statusOf(code)]

export const meaningOf = (code: ProblemCode): string => PROBLEM_KINDS[code][1]

export const isBare = (code: ProblemCode): boolean => BARE[code] !== undefined

const problemBody = ({ code, detail, extras }: Omit<Problem, 'headers'>, requestId: string): JsonObject =>
  BARE[code] ?? {
    status: statusOf(code),
    title: titleOf(code),
    code,
    detail,
    ...extras,
    request_id: requestId,
  }

/** For the documentation. */
export const problemExample = (code: ProblemCode): JsonObject => {
  const [, detail, extras = {}] = PROBLEM_KINDS[code]
  return problemBody({ code, detail, extras }, EXAMPLE_ID)
}

export const problemText = (refusal: Problem, requestId: string): string =>
  JSON.stringify(problemBody(refusal, requestId))

export const AUTHOR_MISMATCH = problem(
  'auth.author_mismatch',
  'The access key speaks for one contributor or producer alone, and this is not made in its name',
)
