import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { REDACTED, REDACTION_DEPTH_MAX, redactText, redactValue } from './redaction.ts'

const NONE: readonly string[] = []
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'
const PEM = '-----BEGIN EC PRIVATE KEY-----\nMHcCAQ\nEEIA==\n-----END EC PRIVATE KEY-----'
const HEX_KEY = `0x${'4f'.repeat(32)}`

describe('text', () => {
  it.each([
    ['a Bearer credential', 'sent Bearer abc.def-1, then left', `sent Bearer ${REDACTED}, then left`],
    ['a scheme in small letters', 'bearer abc', `bearer ${REDACTED}`],
    [
      'an Authorization line',
      'Authorization: Basic dXNlcjpw\nHost: a',
      `Authorization: ${REDACTED}\nHost: a`,
    ],
    [
      'a quoted Authorization',
      '{"authorization":"Basic x y","a":1}',
      `{"authorization":"${REDACTED}","a":1}`,
    ],
    ['token=', 'GET /x?token=abc&page=2', `GET /x?token=${REDACTED}&page=2`],
    ['a longer name', 'access_token: abc', `access_token: ${REDACTED}`],
    ['API_KEY=', 'VENUE_API_KEY=abc, next', `VENUE_API_KEY=${REDACTED}, next`],
    ['api-key:', 'X-Api-Key: abc', `X-Api-Key: ${REDACTED}`],
    ['secret:', 'client_secret : abc', `client_secret : ${REDACTED}`],
    ['an arrow', "password => 'a b'", `password => '${REDACTED}'`],
    ['a quoted password', `password="a \\" b" rest`, `password="${REDACTED}" rest`],
    ['JSON', '{"api_key":"a,b","x":1}', `{"api_key":"${REDACTED}","x":1}`],
    ['a number in JSON', '{"x":{"secret":12}}', `{"x":{"secret":${REDACTED}}}`],
    [
      'JSON inside JSON',
      '{\\"password\\":\\"a b\\",\\"x\\":1}',
      `{\\"password\\":\\"${REDACTED}\\",\\"x\\":1}`,
    ],
    ['a quote that never closes', 'token="abc def\nnext', `token="${REDACTED}\nnext`],
    ['a listed value', 'token: ["abc"]', `token: ["${REDACTED}"]`],
    ['a mnemonic', 'mnemonic: legal winner thank year', `mnemonic: ${REDACTED}`],
    ['sk-', 'key sk-proj-Ab_1 used', `key ${REDACTED} used`],
    ['a JWT', `got ${JWT} back`, `got ${REDACTED} back`],
    ['a JWT behind other letters', `x_${JWT}`, `x_${REDACTED}`],
    ['a PEM private key', `before\n${PEM}\nafter`, `before\n${REDACTED}\nafter`],
    ['a PEM private key that is cut', `before ${PEM.slice(0, 45)}`, `before ${REDACTED}`],
    ['0x and 64 hex digits', `signed with ${HEX_KEY}.`, `signed with ${REDACTED}.`],
    ['a password in an address', 'postgres://svc:p@ss@db:5432/x', `postgres://svc:${REDACTED}@db:5432/x`],
  ])('hides %s', (_name, text, expected) => {
    expect(redactText(text, NONE)).toBe(expected)
  })

  it.each([
    'the token bucket holds 5 tokens: all free',
    'a password is needed and the secret stays in the vault',
    'risk-adjusted scenario-based task-oriented work',
    'set SVC_MASTER_PASSWORD or SVC_DEV_MODE=1',
    '-----BEGIN PUBLIC KEY-----\nMCow\n-----END PUBLIC KEY-----',
    `hash ${'4f'.repeat(32)} and 0x${'4f'.repeat(31)}`,
    'http://127.0.0.1:5050/api/v1 and v1.2.3 and a.b@c.example',
  ])('leaves prose alone: %s', (text) => {
    expect(redactText(text, NONE)).toBe(text)
  })

  it('hides known secrets wherever they stand, also escaped or in an address', () => {
    const secret = 'pa"ss/word'
    const text = `x${secret}y ${JSON.stringify({ note: secret })} https://a.example/${encodeURIComponent(secret)}`
    expect(redactText(text, [secret])).toBe(
      `x${REDACTED}y {"note":"${REDACTED}"} https://a.example/${REDACTED}`,
    )
  })

  it('hides overlapping secrets as one', () => {
    expect(redactText('1abcd2', ['abc', 'bcd'])).toBe(`1${REDACTED}2`)
  })

  it('hides what a hidden neighbour uncovers', () => {
    expect(redactText('token=a,Stail', [',S'])).toBe(`token=${REDACTED}`)
  })

  it('lets no known secret survive, whatever surrounds it', () => {
    // The mask begins and ends with `*`, so only a secret with a `*` could reappear at its edge.
    const secret = fc
      .string({ minLength: 1, maxLength: 12 })
      .filter((text) => !text.includes('*') && !REDACTED.includes(text))
    fc.assert(
      fc.property(fc.array(secret, { minLength: 1, maxLength: 3 }), fc.array(noise), (secrets, pieces) => {
        const text = pieces.map((piece, index) => piece + (secrets[index % secrets.length] ?? '')).join('')
        const redacted = redactText(text, secrets)
        for (const known of secrets) expect(redacted).not.toContain(known)
      }),
    )
  })

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 4 }), { maxLength: 3 }),
        fc.array(noise),
        (secrets, pieces) => {
          const once = redactText(pieces.join(''), secrets)
          expect(redactText(once, secrets)).toBe(once)
        },
      ),
      { numRuns: 500 },
    )
  })

  it.each([
    'token',
    'token:',
    'token="',
    'token=\\"',
    'token:)',
    'token ',
    'authorization:',
    'authorization ',
    'Bearer ',
    'eyJ',
    'eyJa.',
    'eyJ-eyJ',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY',
    '://',
    '://a:',
    '0x',
    '0',
    'sk-',
    '-sk-',
    '\\',
    '"',
    '(',
    ' ',
    'a@',
  ])('takes a megabyte of %j in one walk', (piece) => {
    const text = piece.repeat(Math.ceil(1_000_000 / piece.length))
    expect(redactText(`${text} a-known-secret`, ['a-known-secret'])).not.toContain('a-known-secret')
  })
})

describe('values', () => {
  it('hides members by name at any depth, in any case and spelling', () => {
    const value = {
      api: { auth_token: 'a', port: 5050 },
      list: [{ ApiKey: 'b' }, { 'API-KEY': 'c' }, { clientSecret: { deep: 'd' } }],
      privateKey: 'e',
      Mnemonic: ['f'],
      AUTHORIZATION: 'g',
      DB_PASSWORD: 7,
      public_key: '8a88',
    }
    expect(redactValue(value, NONE)).toEqual({
      api: { auth_token: REDACTED, port: 5050 },
      list: [{ ApiKey: REDACTED }, { 'API-KEY': REDACTED }, { clientSecret: REDACTED }],
      privateKey: REDACTED,
      Mnemonic: REDACTED,
      AUTHORIZATION: REDACTED,
      DB_PASSWORD: REDACTED,
      public_key: '8a88',
    })
  })

  it('shows that a secret is not set', () => {
    const value = { operator_token: '', password: null }
    expect(redactValue(value, NONE)).toEqual(value)
  })

  it('looks into texts, names and lists', () => {
    expect(redactValue({ 'is-hunter2': ['hunter2', 'Bearer x'] }, ['hunter2'])).toEqual({
      [`is-${REDACTED}`]: [REDACTED, `Bearer ${REDACTED}`],
    })
  })

  it('turns errors with causes and stacks into plain data', () => {
    const error = new Error('no hunter2', { cause: new Error('token=abc') })
    const text = JSON.stringify(redactValue({ error: Object.assign(error, { code: 'E1' }) }, ['hunter2']))
    expect(text).toContain('"code":"E1"')
    expect(text).toContain(`no ${REDACTED}`)
    expect(text).toContain('redaction.test.ts')
    expect(text).not.toMatch(/hunter2|abc/)
  })

  it('gathers the errors of an AggregateError', () => {
    const error = new AggregateError([new Error('first')], 'all failed')
    expect(redactValue(error, NONE)).toMatchObject({ message: 'all failed', errors: [{ message: 'first' }] })
  })

  it('writes what JSON has no form for', () => {
    const value = {
      bytes: new Uint8Array(3),
      big: 12n,
      map: new Map<string, unknown>([
        ['token', 'x'],
        ['a', 1],
      ]),
      set: new Set(['b']),
      date: new Date(0),
      url: new URL('https://u:p@a.example/'),
      run: () => 1,
      symbol: Symbol('s'),
    }
    expect(redactValue(value, NONE)).toEqual({
      bytes: '[3 bytes]',
      big: '12',
      map: { token: REDACTED, a: 1 },
      set: ['b'],
      date: '1970-01-01T00:00:00.000Z',
      url: `https://u:${REDACTED}@a.example/`,
      run: '[function]',
      symbol: 'Symbol(s)',
    })
  })

  it('stops at cycles and below the greatest depth', () => {
    const ring: Record<string, unknown> = { a: 1 }
    ring['self'] = ring
    expect(redactValue(ring, NONE)).toEqual({ a: 1, self: '[circular]' })

    let deep: unknown = 'bottom'
    for (let level = 0; level <= REDACTION_DEPTH_MAX + 1; level += 1) deep = [deep]
    const text = JSON.stringify(redactValue(deep, NONE))
    expect(text).toContain('[too deep]')
    expect(text).not.toContain('bottom')
  })

  it('walks shared objects once', () => {
    let shared: unknown = 'x'
    for (let level = 0; level < REDACTION_DEPTH_MAX; level += 1) shared = [shared, shared]
    expect(redactValue(shared, NONE)).toHaveLength(2)
  })

  it('lets no known secret survive in any shape, and changes nothing the second time', () => {
    fc.assert(
      fc.property(fc.object({ values: [noise, fc.constant('a hunter2 b')] }), (value) => {
        const once = redactValue(value, ['hunter2'])
        expect(JSON.stringify(once)).not.toContain('hunter2')
        expect(redactValue(once, ['hunter2'])).toEqual(once)
      }),
    )
  })
})

const noise = fc.oneof(
  fc.string(),
  fc.constantFrom(
    'token=',
    'password: ',
    'Bearer ',
    'Authorization: ',
    'secret',
    '"',
    "'",
    '\\',
    ',',
    ' ',
    '\n',
  ),
  fc.constantFrom(JWT, PEM, PEM.slice(0, 40), HEX_KEY, 'sk-', 'abcdef', '://u:', '@', REDACTED, '***'),
)
