import { z } from 'zod'
import { CURATOR_TYPE, curatorPayload } from '../../core/signal-types/curator.ts'
import type { DIRECTIONS } from '../../core/signal-types/declare.ts'
import type { Submission } from '../../core/signals/signals.ts'
import { storableObject } from '../../core/shared/json-object.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import { plainText, trimmedText } from '../../core/shared/text.ts'
import { UsageError } from './failure.ts'
import { understood } from './writing.ts'

/** What somebody at the keyboard thinks. */
export interface Opinion {
  readonly text: string
  /** Null where the text is to say which. */
  readonly symbols: readonly string[] | null
  readonly direction: (typeof DIRECTIONS)[number]
  readonly conviction: number
  readonly source: string
  readonly dedupeKey: string | null
}

/** What is said about nothing in particular. The brain never uses it. */
const EVERYTHING = 'GLOBAL'

const SYMBOLS_MAX = 100
const PAYLOAD_BYTES_MAX = 64 * 1024
const DEDUPE_KEY_LENGTH_MAX = 200

/** A submission without its author, who is known only when the store is open. */
export type Draft = Omit<Submission, 'nodeId'> & { readonly symbol: string }

/** One submission per symbol, checked like those of every other door. */
export const draftsOf = (opinion: Opinion, universe: readonly string[]): readonly Draft[] => {
  const rationale = opinion.text.trim()
  if (rationale === '') throw new UsageError('the text is empty')
  const symbols = opinion.symbols ?? symbolsIn(rationale, universe)
  if (symbols.length > SYMBOLS_MAX)
    throw new UsageError(`at most ${SYMBOLS_MAX} symbols can be named at once`)
  const { source } = understood(origin, { source: opinion.source })
  const { direction, conviction } = opinion
  return symbols.map((symbol, index) => ({
    symbol,
    eventType: CURATOR_TYPE,
    ts: null,
    source: source || SOURCE,
    payload: understood(signalPayload, { symbol, direction, conviction, rationale }),
    dedupeKey: keyOf(opinion.dedupeKey, symbol, index),
  }))
}

/** Where opinions from the command line come from, if nobody says otherwise. */
export const SOURCE = 'cli.signal'

const origin = z.object({ source: trimmedText() })
const signalPayload = storableObject({ bytesMax: PAYLOAD_BYTES_MAX, members: curatorPayload })
const key = z.object({ dedupe_key: plainText(DEDUPE_KEY_LENGTH_MAX) })

/** The first takes the key as it is, so that another opinion under the same key is noticed before anything is stored. */
const keyOf = (dedupeKey: string | null, symbol: string, index: number): string | null => {
  if (dedupeKey === null) return null
  return understood(key, { dedupe_key: index === 0 ? dedupeKey : `${dedupeKey}:${symbol}` }).dedupe_key
}

/** The symbols of the universe that a text names as words, in its order and in any spelling: `eth`, `$BTC`, `SOLUSDT`. */
const symbolsIn = (text: string, universe: readonly string[]): readonly string[] => {
  const known = new Map(universe.map((symbol) => [canonicalSymbol(symbol), symbol]))
  const named = (text.match(WORDS) ?? []).flatMap((word) => known.get(canonicalSymbol(word)) ?? [])
  return named.length === 0 ? [EVERYTHING] : [...new Set(named)]
}

const WORDS = /[\p{L}\p{N}]+/gu
