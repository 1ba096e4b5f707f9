import fc from 'fast-check'
import { expect, it } from 'vitest'
import { MODERN_META } from './caller.fixture.ts'
import { decodeHeaderText, identifyCaller } from './protocol.ts'

it('reads back what was wrapped', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(decodeHeaderText(`=?base64?${Buffer.from(text).toString('base64')}?=`)).toBe(text)
    }),
  )
})

it('leaves alone what was not', () => {
  for (const header of ['get_brain_status', '=?base64?', 'base64', '=?utf-8?YQ==?=']) {
    expect(decodeHeaderText(header)).toBe(header)
  }
})

it('does not read what has another spelling, or is no text', () => {
  for (const base64 of ['YQ', 'YR==', '/w==']) expect(decodeHeaderText(`=?base64?${base64}?=`)).toBeNull()
})

it('refuses a header that cannot be read, whatever the call names', () => {
  const headers = { protocolVersion: '2026-07-28', method: 'tools/call', name: '=?base64?YR==?=' }
  for (const named of [{}, { name: 'a' }] as { readonly name?: string }[]) {
    const request = { id: 1, method: 'tools/call', params: { ...named, _meta: MODERN_META } }
    expect(identifyCaller(request, headers)).toMatchObject({ status: 'refused' })
    expect(identifyCaller(request, { ...headers, name: named.name ?? null })).toMatchObject({
      status: 'known',
    })
  }
})

it('says which header differs from the message, and how', () => {
  const request = { id: 1, method: 'tools/call', params: { name: 'a', _meta: MODERN_META } }
  const headers = { protocolVersion: '2026-07-28', method: 'tools/call', name: 'a' }
  for (const [changed, mismatch] of [
    [{ name: 'b' }, { name: 'Mcp-Name', header: 'b', body: 'a' }],
    [{ name: null }, { name: 'Mcp-Name', header: null, body: 'a' }],
    [{ method: 'ping' }, { name: 'Mcp-Method', header: 'ping', body: 'tools/call' }],
    [
      { protocolVersion: '2025-11-25' },
      { name: 'MCP-Protocol-Version', header: '2025-11-25', body: '2026-07-28' },
    ],
  ] as const) {
    expect(identifyCaller(request, { ...headers, ...changed })).toMatchObject({
      status: 'refused',
      error: { data: { mismatch } },
    })
  }
})
