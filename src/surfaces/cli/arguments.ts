import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { InvalidArgumentError } from 'commander'
import { parseSelector } from '../../core/market/history/select.ts'
import { TIMEFRAME_RULE } from '../../core/market/history/series.ts'
import { PAST_POINT_FORM, parsePastPoint } from '../../core/shared/as-of.ts'
import { parseTimestamp } from '../../core/shared/time.ts'
import type { ParameterValues } from '../../core/strategies/strategy.ts'
import type { Invocation } from './command.ts'
import { Failure, messageOf, UsageError } from './failure.ts'
import { bytesOf } from './terminal.ts'

/** For commander: reads a value from text, or says what the text must be. */
export const parser =
  <Value>(read: (text: string) => Value | null, requirement: string) =>
  (text: string): Value => {
    const value = read(text)
    if (value !== null) return value
    throw new InvalidArgumentError(requirement)
  }

/** Whole numbers, unless the pattern allows others. */
export const numberFrom = (min: number, max: number, pattern = /^\d+$/): ((text: string) => number) =>
  parser((text) => {
    const number = pattern.test(text) ? Number(text) : Number.NaN
    return number >= min && number <= max ? number : null
  }, `It must be a number from ${min} to ${max}.`)

/** Costs of a fill, in basis points. */
export const parseBasisPoints = numberFrom(0, 1000, /^\d+(\.\d+)?$/)

/** Basis points that longs pay every 8 hours, or `off`. */
export const parseFunding = (text: string): number | 'off' =>
  text === 'off' ? text : numberFrom(-1000, 1000, /^-?\d+(\.\d+)?$/)(text)

/** Text that is stored: trimmed, and not empty. */
export const textUpTo = (lengthMax: number): ((text: string) => string) =>
  parser((text) => {
    const trimmed = text.trim()
    return trimmed !== '' && trimmed.length <= lengthMax && trimmed.isWellFormed() ? trimmed : null
  }, `It must have 1 to ${lengthMax} characters.`)

/** For `--reason`. */
export const parseReason = textUpTo(500)

/** For `--from`: a day begins at midnight UTC. */
export const parseFrom = parser(
  parseTimestamp,
  'It must be a date (2026-02-20) or a time (2026-02-20T14:30:00Z), UTC if no zone is named.',
)

/** For `--to`: a day ends with its last millisecond. */
export const parseTo = (text: string): string => {
  const timestamp = parseFrom(text)
  return DAY.test(text) ? `${text}T23:59:59.999Z` : timestamp
}

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** A series of recorded bars. */
export const parseSeries = parser(
  parseSelector,
  `It must be a venue, a symbol and ${TIMEFRAME_RULE}: binance:BTC:1h.`,
)

/** For options that may be repeated. */
export const collected =
  <Value>(parse: (text: string) => Value) =>
  (text: string, before: readonly Value[] = []): readonly Value[] => [...before, parse(text)]

/** For `--as-of`, and for ranges of the log. */
export const parsePoint = parser(parsePastPoint, `It ${PAST_POINT_FORM}.`)

/** A symbol of the universe. */
export const parseSymbol = parser(
  (text) => (/^[\w/:.-]{1,32}$/.test(text) ? text : null),
  'It must be a symbol such as BTC.',
)

export const parseSeed = parser((text) => {
  const seed = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(seed) ? seed : null
}, 'It must be a whole number, 0 or larger.')

/** The time that a run trades in; null is open. */
export const tradedTime = ({ from, to }: { readonly from?: string; readonly to?: string }) => {
  const fromMs = from === undefined ? null : Date.parse(from)
  // A day ends with its last millisecond; its last bar closes with the next one.
  const toMs = to === undefined ? null : Math.ceil(Date.parse(to) / 1000) * 1000
  if (fromMs !== null && toMs !== null && fromMs >= toMs) throw new UsageError('--from comes after --to')
  return { fromMs, toMs }
}

/** For `--set key=value`, which may be repeated. */
export const collectParameters = (text: string, before: ParameterValues = {}): ParameterValues => {
  const [, name, value] = /^([A-Za-z_]\w{0,63})=([^]{0,1000})$/.exec(text) ?? []
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError('It must be a name and a value: fast=5.')
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`${name} is there twice.`)
  return { ...before, [name]: value }
}

const ID_PREFIX_LENGTH_MIN = 4

/** An id by its beginning, as tables show it. What matches nothing stays as it is: the command refuses it. */
export const completeId = (typed: string, known: Iterable<string>): string => {
  if (typed.length < ID_PREFIX_LENGTH_MIN) return typed
  const matching = new Set([...known].filter((id) => id.startsWith(typed)))
  if (matching.has(typed)) return typed
  if (matching.size > 1) throw new UsageError(`${matching.size} ids begin with ${typed}: type more of it`)
  return [...matching][0] ?? typed
}

/** Nothing happens unless the word is typed, or the command line says --yes. */
export const confirm = async (
  { ask }: Pick<Invocation, 'ask'>,
  { yes, word, question }: { readonly yes: boolean; readonly word: string; readonly question: string },
): Promise<void> => {
  if (yes) return
  const typed = await ask(`${question} Type "${word}" to confirm: `, 'echoed')
  if (typed.trim() === word) return
  throw new Failure('request.invalid', 'not confirmed: nothing was done', {
    advice: `Type "${word}" when asked, or add --yes in scripts.`,
  })
}

/** All of a small text file, or of a pipe that is named like one. */
export const readTextFile = async (path: string, bytesMax: number): Promise<string> => {
  const bytes = await bytesOf(createReadStream(path), bytesMax).catch((error: unknown) => {
    throw new UsageError(`cannot read ${path}: ${messageOf(error)}`)
  })
  if (bytes === null) throw new UsageError(`${path} is larger than ${bytesMax} bytes`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    // The only thing that can be wrong with bytes.
    throw new UsageError(`${path} is not UTF-8 text`)
  }
}

const LINE_END = 0x0a

/**
 * The lines of a stream as they arrive; null for one of more bytes, which is read to its end and dropped. Only `\n` ends
 * a line: JSON may hold the other line ends of Unicode unescaped. The last line needs no end.
 */
export async function* linesOf(input: Readable, bytesMax: number): AsyncGenerator<string | null> {
  let pieces: Buffer[] = []
  let length = 0
  const add = (piece: Buffer): void => {
    length += piece.length
    if (length <= bytesMax) pieces.push(piece)
    else pieces = []
  }
  const take = (): string | null => {
    const line = length > bytesMax ? null : Buffer.concat(pieces).toString('utf8')
    pieces = []
    length = 0
    return line
  }
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk as Uint8Array | string)
    let start = 0
    for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, start)) {
      add(bytes.subarray(start, end))
      yield take()
      start = end + 1
    }
    add(bytes.subarray(start))
  }
  if (length > 0) yield take()
}
