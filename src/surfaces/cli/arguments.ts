import { createReadStream } from 'node:fs'
import { InvalidArgumentError, type Command } from 'commander'
import { nearest } from '../../core/config/keys.ts'
import { parseTimestamp } from '../../core/shared/time.ts'
import type { Invocation } from './command.ts'
import { Failure, UsageError } from './failure.ts'

/** For `--limit`. */
export const parseLimitUpTo =
  (max: number) =>
  (text: string): number => {
    const limit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0
    if (limit >= 1 && limit <= max) return limit
    throw new InvalidArgumentError(`It must be a number from 1 to ${max}.`)
  }

/** Text that is stored: trimmed, and not empty. */
export const parseTextUpTo =
  (lengthMax: number) =>
  (text: string): string => {
    const trimmed = text.trim()
    if (trimmed.length >= 1 && trimmed.length <= lengthMax && trimmed.isWellFormed()) return trimmed
    throw new InvalidArgumentError(`It must have 1 to ${lengthMax} characters.`)
  }

/** For `--reason`. */
export const parseReason = parseTextUpTo(500)

/** For `--from`: a day begins at midnight UTC. */
export const parseFrom = (text: string): string => {
  const timestamp = parseTimestamp(text)
  if (timestamp !== null) return timestamp
  throw new InvalidArgumentError(
    'It must be a date (2026-02-20) or a time (2026-02-20T14:30:00Z), UTC if no zone is named.',
  )
}

/** For `--to`: a day ends with its last millisecond. */
export const parseTo = (text: string): string => {
  const timestamp = parseFrom(text)
  return DAY.test(text) ? `${text}T23:59:59.999Z` : timestamp
}

const DAY = /^\d{4}-\d{2}-\d{2}$/

/**
 * For a default command such as `list`: commander passes every unknown word to it, which needs a better error than
 * "too many arguments".
 */
export const refuseUnknownWord = ({ args, parent }: Command): void => {
  const [word] = args
  if (word === undefined) return
  const meant = nearest(word, parent?.commands.map((command) => command.name()) ?? [])
  throw new UsageError(`unknown command '${word}'${meant === null ? '' : ` (Did you mean ${meant}?)`}`)
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
  { readAnswer }: Pick<Invocation, 'readAnswer'>,
  { yes, word, question }: { readonly yes: boolean; readonly word: string; readonly question: string },
): Promise<void> => {
  if (yes) return
  const typed = await readAnswer(`${question} Type "${word}" to confirm: `)
  if (typed.trim() === word) return
  throw new Failure('request.invalid', 'not confirmed: nothing was done', {
    advice: `Type "${word}" when asked, or add --yes in scripts.`,
  })
}

/** All of a small text file, or of a pipe that is named like one. */
export const readTextFile = async (path: string, bytesMax: number): Promise<string> => {
  const chunks: Buffer[] = []
  try {
    // One byte more than allowed is enough to see that it is too large.
    for await (const chunk of createReadStream(path, { end: bytesMax }) as AsyncIterable<Buffer>) {
      chunks.push(chunk)
    }
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
  const bytes = Buffer.concat(chunks)
  if (bytes.length > bytesMax) throw new UsageError(`${path} is larger than ${bytesMax} bytes`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    // The only thing that can be wrong with bytes.
    throw new UsageError(`${path} is not UTF-8 text`)
  }
}
