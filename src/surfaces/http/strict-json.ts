import { echoed } from '../../core/shared/echo.ts'
import type { Fault } from '../../core/shared/faults.ts'
import { endOfString, hasTooManyValues, JSON_VALUES_MAX } from '../../core/shared/json-object.ts'

/** How deep a body may be nested; the deepest allowed event payload still fits. */
export const BODY_DEPTH_MAX = 32

const FAULTS_MAX = 100

export type StrictJson =
  | { readonly status: 'parsed'; readonly value: unknown }
  | { readonly status: 'malformed'; readonly detail: string }
  /** More values than any request needs. The text is not parsed. */
  | { readonly status: 'oversized'; readonly faults: readonly Fault[] }
  /** JSON, but with values that have no meaning here. */
  | { readonly status: 'invalid'; readonly value: unknown; readonly faults: readonly Fault[] }

/** JSON with one meaning: strict UTF-8, no repeated member, no number beyond a double, no lone surrogate, bounded depth. */
export const parseStrictJson = (bytes: Uint8Array, depthMax = BODY_DEPTH_MAX): StrictJson => {
  const steps = stepsOf(bytes, depthMax)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Parses like `parseStrictJson`, in steps with other work between them. Each step reads the whole text once. */
export const parseInTurns = async (
  bytes: Uint8Array,
  untilTurn: () => Promise<void>,
  depthMax = BODY_DEPTH_MAX,
): Promise<StrictJson> => {
  const steps = stepsOf(bytes, depthMax)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await untilTurn()
  }
}

function* stepsOf(bytes: Uint8Array, depthMax: number): Generator<undefined, StrictJson, undefined> {
  const text = decode(bytes)
  if (text === null) return { status: 'malformed', detail: 'The body is not UTF-8' }
  if (hasTooManyValues(text)) return OVERSIZED
  yield
  const parsed = parse(text)
  if (parsed.status === 'malformed') return parsed
  yield
  const repeated = repeatedMember(text)
  if (repeated !== null) {
    return {
      status: 'malformed',
      detail: `The body names the member ${echoed(repeated)} twice in one object`,
    }
  }
  yield
  const faults: Fault[] = []
  collectFaults(parsed.value, ['body'], { depth: 0, depthMax }, faults)
  return faults.length === 0 ? parsed : { status: 'invalid', value: parsed.value, faults }
}

const OVERSIZED: StrictJson = {
  status: 'oversized',
  faults: [{ loc: ['body'], type: 'too_large', msg: `must have at most ${JSON_VALUES_MAX} values` }],
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

const decode = (bytes: Uint8Array): string | null => {
  try {
    return UTF8.decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return null
  }
}

const parse = (text: string): Extract<StrictJson, { status: 'parsed' | 'malformed' }> => {
  try {
    return { status: 'parsed', value: JSON.parse(text) as unknown }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    // The message itself may quote the body; only the position is passed on.
    const position = / position (\d+)/.exec(error.message)?.[1]
    return {
      status: 'malformed',
      detail:
        position === undefined ? 'The body is not JSON' : `The body is not JSON (at position ${position})`,
    }
  }
}

const QUOTE = 0x22
const COLON = 0x3a
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** The first member name that occurs twice in one object, as written. The text is known to be JSON. */
const repeatedMember = (text: string): string | null => {
  const open: Set<string>[] = []
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit === OPEN_OBJECT) open.push(new Set())
    else if (unit === CLOSE_OBJECT) open.pop()
    else if (unit === QUOTE) {
      const end = endOfString(text, index)
      const names = open.at(-1)
      if (names !== undefined && isFollowedByColon(text, end)) {
        const written = text.slice(index, end)
        const name = written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1)
        if (names.has(name)) return written
        names.add(name)
      }
      index = end - 1
    }
  }
  return null
}

/** Only a member's name is followed by a colon, whatever the objects and arrays around it. */
const isFollowedByColon = (text: string, start: number): boolean => {
  let index = start
  while (text.charCodeAt(index) <= 0x20) index += 1
  return text.charCodeAt(index) === COLON
}

const collectFaults = (
  value: unknown,
  loc: readonly string[],
  { depth, depthMax }: { readonly depth: number; readonly depthMax: number },
  faults: Fault[],
): void => {
  if (faults.length >= FAULTS_MAX) return
  if (typeof value !== 'object' || value === null) {
    const fault = faultOfScalar(value)
    if (fault !== null) faults.push({ loc, ...fault })
    return
  }
  if (depth > depthMax) {
    faults.push({ loc, type: 'too_deep', msg: `must not be nested deeper than ${depthMax}` })
    return
  }
  // Without a list of entries, and the path is only built where it may be needed: a body can hold many thousand numbers.
  const names = Array.isArray(value) ? null : Object.keys(value)
  const members = value as Readonly<Record<string | number, unknown>>
  const length = names?.length ?? (value as readonly unknown[]).length
  for (let index = 0; index < length; index += 1) {
    if (faults.length >= FAULTS_MAX) return
    const name = names?.[index]
    const member = members[name ?? index]
    const at = (): readonly string[] => [...loc, echoed(name ?? String(index))]
    if (name?.isWellFormed() === false) faults.push({ loc: at(), ...NOT_WELL_FORMED })
    else if (isContainer(member) || faultOfScalar(member) !== null)
      collectFaults(member, at(), { depth: depth + 1, depthMax }, faults)
  }
}

const isContainer = (value: unknown): boolean => typeof value === 'object' && value !== null

const faultOfScalar = (value: unknown): Pick<Fault, 'type' | 'msg'> | null => {
  if (typeof value === 'string') return value.isWellFormed() ? null : NOT_WELL_FORMED
  if (typeof value === 'number') return Number.isFinite(value) ? null : NOT_FINITE
  return null
}

const NOT_WELL_FORMED = { type: 'unicode_invalid', msg: 'must not contain a lone surrogate' } as const
const NOT_FINITE = { type: 'number_not_finite', msg: 'must be a finite number' } as const
