import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readMessage } from './json-rpc.ts'

const part = fc.oneof(fc.jsonValue(), fc.constantFrom('2.0', 'ping', 1, null))

describe('a message that was parsed', () => {
  it('is a request, is silent, or is not valid: never anything else', () => {
    const members = fc.record(
      { jsonrpc: part, id: part, method: part, params: part, result: part, error: part },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(members, fc.jsonValue()), (value) => {
        const message = readMessage(value)
        if (message.kind === 'invalid') expect(message.detail).toMatch(/\S/)
        if (message.kind === 'request')
          expect({ params: undefined, ...(value as object) }).toMatchObject(message.request)
      }),
    )
  })

  it('keeps its parameters as they were sent', () => {
    for (const params of [undefined, null, [1], { a: 1 }, 'text']) {
      expect(readMessage({ jsonrpc: '2.0', id: 'a', method: 'm', params })).toEqual({
        kind: 'request',
        request: { id: 'a', method: 'm', params },
      })
    }
  })

  it('has an id that can be said back', () => {
    for (const id of ['\ud800', 2 ** 53, 0.5, true, [], {}]) {
      expect(readMessage({ jsonrpc: '2.0', id, method: 'm' })).toMatchObject({ kind: 'invalid', id: null })
    }
  })

  it('answers nothing unless it has a result or an error', () => {
    expect(readMessage({ jsonrpc: '2.0', id: 1, result: null })).toEqual({ kind: 'silent' })
    expect(readMessage({ jsonrpc: '2.0', error: {} })).toEqual({ kind: 'silent' })
    expect(readMessage({ jsonrpc: '2.0', result: {} })).toMatchObject({ kind: 'invalid' })
    expect(readMessage({ jsonrpc: '2.0', id: 1, error: 'no' })).toMatchObject({ kind: 'invalid', id: 1 })
  })
})
