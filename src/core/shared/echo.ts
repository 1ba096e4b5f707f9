import type { Json, JsonObject } from './json.ts'

/** Limit of characters from a client that an error repeats. */
export const ECHO_LENGTH_MAX = 200

/**
 * Text from outside in the form in which errors show it: one line, without control characters, cut. It reaches logs,
 * terminals and prompts of models, where line breaks and escapes could pass for text of the engine.
 */
export const echoed = (text: string): string => {
  const line = oneLine(text.slice(0, 2 * ECHO_LENGTH_MAX))
  if (line.length <= ECHO_LENGTH_MAX && text.length <= 2 * ECHO_LENGTH_MAX) return line
  return `${oneLine(line.slice(0, ECHO_LENGTH_MAX - 1))}…`
}

/** Applies `echoed` to every text inside the value. */
export const echoedJson = (value: Json): Json => {
  if (typeof value === 'string') return echoed(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item: Json) => echoedJson(item))
  return echoedObject(value as JsonObject)
}

export const echoedObject = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([name, member]) => [echoed(name), echoedJson(member)]))

/** Replaces line breaks, control and format characters, and lone surrogates. */
export const oneLine = (text: string): string => text.replace(UNPRINTABLE, ' ')

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu
