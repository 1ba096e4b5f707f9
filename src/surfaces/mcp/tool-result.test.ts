import { describe, expect, it } from 'vitest'
import { failedResult, foundResult } from './tool-result.ts'

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
