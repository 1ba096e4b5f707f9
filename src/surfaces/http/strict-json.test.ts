import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BODY_DEPTH_MAX, parseInTurns, parseStrictJson } from './strict-json.ts'

const parse = (text: string) => parseStrictJson(Buffer.from(text))

describe('strict JSON', () => {
  it('reads what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (text) => {
        const parsed = parse(text)
        expect(parsed.status === 'parsed' && JSON.stringify(parsed.value)).toBe(text)
      }),
    )
  })

  it('takes any bytes without throwing', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
        expect(['parsed', 'malformed', 'invalid']).toContain(parseStrictJson(bytes).status)
      }),
    )
  })

  it('refuses a member that is named twice, wherever and however it is written', () => {
    for (const text of [
      '{"a":1,"a":1}',
      '{"a":1,"b":{"a":2},"a":3}',
      '[{"x":[{"a":1,"\\u0061":2}]}]',
      '{"a" \n: 1, "a"\t: 2}',
      '{"":1,"":2}',
      '{"__proto__":1,"__proto__":2}',
      '{"q\\"":1,"q\\"":2}',
    ]) {
      expect(parse(text), text).toMatchObject({
        status: 'malformed',
        detail: expect.stringContaining('twice'),
      })
    }
  })

  it('allows equal names in different objects, and equal values', () => {
    for (const text of [
      '[{"a":1},{"a":1}]',
      '{"a":{"a":{"a":"a"}}}',
      '{"a":"b","b":"a"}',
      '["a","a:","a"]',
    ]) {
      expect(parse(text).status, text).toBe('parsed')
    }
  })

  it('names the place but does not quote the body', () => {
    expect(parse('{a:1}')).toMatchObject({
      status: 'malformed',
      detail: expect.stringMatching(/position 1\b/),
    })
    expect(JSON.stringify(parse('{"token": s3cret}'))).not.toContain('s3cret')
  })

  it('refuses what is not UTF-8', () => {
    expect(parseStrictJson(Uint8Array.of(0x22, 0xff, 0x22))).toMatchObject({ status: 'malformed' })
    // An encoded surrogate is not UTF-8 either.
    expect(parseStrictJson(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22))).toMatchObject({
      status: 'malformed',
    })
  })

  it('refuses numbers beyond a double', () => {
    expect(parse('{"a":[0,1e999],"b":-1e999}')).toMatchObject({
      status: 'invalid',
      faults: [
        { loc: ['body', 'a', '1'], type: 'number_not_finite' },
        { loc: ['body', 'b'], type: 'number_not_finite' },
      ],
    })
  })

  it('refuses lone surrogates in values and names', () => {
    expect(parse('{"a":"\\ud800"}')).toMatchObject({
      status: 'invalid',
      faults: [{ loc: ['body', 'a'], type: 'unicode_invalid' }],
    })
    expect(parse('{"\\udc00":1}')).toMatchObject({ status: 'invalid', faults: [{ type: 'unicode_invalid' }] })
    expect(parse('{"a":"\\ud83d\\ude00"}').status).toBe('parsed')
  })

  it('reads members up to the deepest level and refuses one more', () => {
    const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    expect(parse(nested(BODY_DEPTH_MAX + 1)).status).toBe('parsed')
    expect(parse(nested(BODY_DEPTH_MAX + 2))).toMatchObject({
      status: 'invalid',
      faults: [{ type: 'too_deep' }],
    })
    const deep = 50_000
    expect(parse(`${'['.repeat(deep)}${']'.repeat(deep)}`)).toMatchObject({ status: 'invalid' })
    expect(parse('['.repeat(deep))).toMatchObject({ status: 'malformed' })
  })

  it('does not parse more values than a request may have', () => {
    const oversized = { status: 'oversized', faults: [{ loc: ['body'], type: 'too_large' }] }
    expect(parse(`${'['.repeat(500_000)}${']'.repeat(500_000)}`)).toMatchObject(oversized)
    expect(parse('['.repeat(500_000))).toMatchObject(oversized)
    expect(parse(`[${'0,'.repeat(100_000)}0]`)).toMatchObject(oversized)
    expect(parse(`[${'0,'.repeat(99_990)}0]`)).toMatchObject({ status: 'parsed' })
    // Commas and brackets inside a text are no values; nor does an open text or a last backslash matter.
    expect(parse(JSON.stringify(',[{'.repeat(100_000)))).toMatchObject({ status: 'parsed' })
    expect(parse(`"${'\\'.repeat(150_001)}`)).toMatchObject({ status: 'malformed' })
  })

  it('lists many faults, but not without end', () => {
    const parsed = parse(JSON.stringify(Array.from({ length: 1000 }, () => 0)).replaceAll('0', '1e999'))
    expect(parsed.status === 'invalid' && parsed.faults.length).toBe(100)
  })

  it('never touches the prototype', () => {
    const parsed = parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}')
    expect(parsed.status).toBe('parsed')
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})

describe('JSON in turns', () => {
  it.each(['{"a":[1,2,{"b":"c"}]}', '{"a":1,"a":2}', '{"a":', '{"a":"\\ud800"}', '[[1e999]]'])(
    'means the same, and waits before each step but the first: %s',
    async (text) => {
      let turns = 0
      const untilTurn = async (): Promise<void> => {
        turns += 1
      }
      expect(await parseInTurns(Buffer.from(text), untilTurn)).toEqual(parse(text))
      expect(turns).toBeGreaterThan(0)
    },
  )
})
