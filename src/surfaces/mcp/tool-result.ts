import type { Json, JsonObject } from '../../core/shared/json.ts'
import { firstThatFit, TEXT_BYTES_MAX, withShortTexts } from './limits.ts'

/** What a tool found: as text for models, as a value for programs, and no more of it than may be. */
export const foundResult = (value: JsonObject | readonly Json[]): JsonObject => {
  const short = withShortTexts(value)
  return isList(short) ? listResult(short) : objectResult(short)
}

/** What a tool says instead of a result. */
export const failedResult = (error: JsonObject): JsonObject => {
  const short = withShortTexts(error)
  return { content: [textBlock(JSON.stringify(short))], structuredContent: short, isError: true }
}

const objectResult = (value: JsonObject): JsonObject => {
  const text = JSON.stringify(value)
  return Buffer.byteLength(text) > TEXT_BYTES_MAX
    ? failedResult({ error: 'result_too_large', limit_bytes: TEXT_BYTES_MAX })
    : { content: [textBlock(text)], structuredContent: value, isError: false }
}

/** The text is the bare list; what was left out is said beside it. */
const listResult = (items: readonly Json[]): JsonObject => {
  const { kept, leftOut } = firstThatFit(items)
  const content = [textBlock(JSON.stringify(kept))]
  if (leftOut === 0) return { content, structuredContent: { items: kept }, isError: false }
  const note = `${leftOut} more items did not fit into ${TEXT_BYTES_MAX} bytes. Ask for fewer.`
  return {
    content: [...content, textBlock(note)],
    structuredContent: { items: kept, left_out: leftOut },
    isError: false,
  }
}

const textBlock = (text: string): JsonObject => ({ type: 'text', text })

const isList = (value: JsonObject | readonly Json[]): value is readonly Json[] => Array.isArray(value)
