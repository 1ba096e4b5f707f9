import { describe, expect, it } from 'vitest'
import { faultsOf } from './faults.ts'
import { httpUrl } from './text.ts'

const faultsIn = (value: unknown) => {
  const parsed = httpUrl().safeParse(value)
  return parsed.success ? [] : faultsOf(parsed.error, []).map(({ type }) => type)
}

describe('an address of the web', () => {
  it.each([
    'https://example.com/x',
    'http://example.com',
    'HTTPS://Example.com:8443/a?b=c#d',
    'http://127.0.0.1:9000/signals',
    'http://[::1]:9000/',
    'https://example.com/a?mail=a@b|c',
    'https://münchen.example/ü',
    `https://example.com/${'x'.repeat(2028)}`,
  ])('is %s', (text) => {
    expect(faultsIn(text)).toEqual([])
  })

  it.each([
    '',
    'text',
    '/x',
    '//example.com',
    'ftp://x',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http:example.com',
    'http:/example.com',
    'http://',
    'http:///x',
    'http://?x',
    'http://user@example.com/',
    'http://user:password@example.com/',
    'http://@example.com/',
    'http://example.com:99999/',
    'http://exa mple.com/',
    'http://example.com/a b',
    ' http://example.com/',
    'http://example.com/\n',
    'http://exam\tple.com/',
    'http://example.com\\@evil.example/',
    'http:\\\\example.com/',
    'http://[::1/',
    'http://a..b\u0000/',
  ])('is not %j', (text) => {
    expect(faultsIn(text)).toEqual(['url_invalid'])
  })

  it('is not too long, and text', () => {
    expect(faultsIn(`https://example.com/${'x'.repeat(2029)}`)).toEqual(['string_too_long'])
    expect(faultsIn(null)).toEqual(['string_type'])
  })
})
