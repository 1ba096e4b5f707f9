import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../core/shared/json.ts'
import {
  failedResult,
  firstThatFit,
  foundResult,
  STRING_LENGTH_MAX,
  TEXT_BYTES_MAX,
  withShortTexts,
} from './tool-result.ts'

describe('the result of a tool', () => {
  it('is text and value alike', () => {
    expect(foundResult({ level: 2 })).toEqual({
      content: [{ type: 'text', text: '{"level":2}' }],
      structuredContent: { level: 2 },
      isError: false,
    })
    expect(foundResult([1, 2])).toEqual({
      content: [{ type: 'text', text: '[1,2]' }],
      structuredContent: { items: [1, 2] },
      isError: false,
    })
  })

  it('is an error when an object is larger than anybody should read', () => {
    const members = Array.from({ length: 100 }, (_, index) => [`m${index}`, 'x'.repeat(3000)])
    expect(foundResult(Object.fromEntries(members))).toMatchObject({
      structuredContent: { error: 'result_too_large', limit_bytes: 262_144 },
      isError: true,
    })
  })

  it('does not repeat more of what was asked than is needed to recognise it', () => {
    const { structuredContent } = failedResult({ error: 'signal_not_found', signal_id: 'x'.repeat(5000) })
    expect(structuredContent).toEqual({
      error: 'signal_not_found',
      signal_id: `${'x'.repeat(4000)} [cut: 5000 characters]`,
    })
  })
})

describe('texts of third parties', () => {
  it('stay as they are while they are short', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(withShortTexts(value as Json)).toEqual(value)
      }),
    )
    const longest = 'x'.repeat(STRING_LENGTH_MAX)
    expect(withShortTexts(longest)).toBe(longest)
  })

  it('are cut wherever they stand, and say so', () => {
    const long = 'x'.repeat(STRING_LENGTH_MAX + 1)
    const cut = `${'x'.repeat(STRING_LENGTH_MAX)} [cut: 4001 characters]`
    expect(withShortTexts({ a: [{ b: long }], c: 1, d: null })).toEqual({ a: [{ b: cut }], c: 1, d: null })
  })

  it('are not cut through a character', () => {
    const cut = withShortTexts(`${'x'.repeat(STRING_LENGTH_MAX - 1)}😀`)
    expect(cut.isWellFormed()).toBe(true)
  })
})

describe('a list', () => {
  const item = (bytes: number): string => 'x'.repeat(bytes - '"",'.length)

  it('is whole while it fits', () => {
    const items = [item(TEXT_BYTES_MAX / 2), item(TEXT_BYTES_MAX / 2 - '[]'.length)]
    expect(firstThatFit(items)).toEqual({ kept: items, leftOut: 0 })
    expect(firstThatFit([])).toEqual({ kept: [], leftOut: 0 })
  })

  it('ends where it no longer fits', () => {
    const half = item(TEXT_BYTES_MAX / 2)
    expect(firstThatFit([half, half, 'x'])).toEqual({ kept: [half], leftOut: 2 })
    expect(firstThatFit([item(TEXT_BYTES_MAX)])).toEqual({ kept: [], leftOut: 1 })
  })

  it('never takes more bytes than it may', () => {
    const texts = fc.array(
      fc.nat({ max: 60_000 }).map((length) => 'é'.repeat(length)),
      { maxLength: 8 },
    )
    fc.assert(
      fc.property(texts, (items) => {
        const { kept, leftOut } = firstThatFit(items)
        expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThanOrEqual(TEXT_BYTES_MAX)
        expect(kept.length + leftOut).toBe(items.length)
      }),
    )
  })
})
