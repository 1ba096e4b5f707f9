import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decryptFernet, encryptFernet } from './fernet.ts'

// The vectors published with the Fernet specification: generate.json, verify.json, and those of invalid.json that are not
// about age.
const KEY = 'cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4='
const TOKEN =
  'gAAAAAAdwJ6wAAECAwQFBgcICQoLDA0ODy021cpGVWKZ_eEwCGM4BLLF_5CV9dOPmrhuVUPgJobwOz7JcbmrR64jVmpU4IwqDA=='
const IV = Uint8Array.from({ length: 16 }, (_, index) => index)
const CREATED_SECONDS = Date.parse('1985-10-26T01:20:00-07:00') / 1000

const INVALID = [
  [
    'incorrect mac',
    'gAAAAAAdwJ6xAAECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPAl1-szkFVzXTuGb4hR8AKtwcaX1YdykQUFBQUFBQUFBQQ==',
  ],
  ['too short', 'gAAAAAAdwJ6xAAECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPA=='],
  [
    'invalid base64',
    '%%%%%%%%%%%%%AECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPAl1-szkFVzXTuGb4hR8AKtwcaX1YdykRtfsH-p1YsUD2Q==',
  ],
  [
    'payload size not multiple of block size',
    'gAAAAAAdwJ6xAAECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPOm73QeoCk9uGib28Xe5vz6oxq5nmxbx_v7mrfyudzUm',
  ],
  [
    'payload padding error',
    'gAAAAAAdwJ6xAAECAwQFBgcICQoLDA0ODz4LEpdELGQAad7aNEHbf-JkLPIpuiYRLQ3RtXatOYREu2FWke6CnJNYIbkuKNqOhw==',
  ],
  [
    'incorrect IV (causes padding error)',
    'gAAAAAAdwJ6xBQECAwQFBgcICQoLDA0OD3HkMATM5lFqGaerZ-fWPAkLhFLHpGtDBRLRTZeUfWgHSv49TF2AUEZ1TIvcZjK1zQ==',
  ],
  ['trailing characters after b64 padding', `${TOKEN}trailingdata`],
  [
    'invalid characters in b64',
    '*gAAAAAAdwJ6wAAECAwQFBgcI!CQoLDA0ODy021?cpGVWKZ_eEwC@GM4BLLF_5CV9dOPmrhuVUPgJobwOz7JcbmrR64jVmpU4IwqDA==',
  ],
  [
    'invalid non-urlsafe characters in b64',
    'gAAAAAAdwJ6wAAEC/AwQFBgcICQoLDA0ODy+021cpGVWKZ_eEwCGM4BLLF_5CV9dOPmrhuVUPgJobwOz7JcbmrR64jVmpU4IwqDA==',
  ],
] as const

describe('the published vectors', () => {
  it('generates', () => {
    expect(encryptFernet(KEY, Buffer.from('hello'), CREATED_SECONDS, IV)).toBe(TOKEN)
  })

  it('verifies', () => {
    expect(decryptFernet(KEY, TOKEN)?.toString()).toBe('hello')
  })

  it.each(INVALID)('refuses: %s', (_name, token) => {
    expect(decryptFernet(KEY, token)).toBeNull()
  })
})

it('holds the vector of the contract', () => {
  const key = '1-_-WE2gJyXy44SoriQKToYy0BvO65hZX04H3FJqztY='
  const token =
    'gAAAAABpl6sGAAECAwQFBgcICQoLDA0OD5O3MkshedxjZ15itSF5ffkIPRNCHodHYpVqINbMdA7CabovaMUzx-RH8l-J4CH4GiMIYHZQfwa8snnCe8wu1YFyZVZdrjoDLWCWei7pA0c3'
  const data = Buffer.alloc(32, 1)
  expect(encryptFernet(key, data, 1_771_547_398, IV)).toBe(token)
  expect(decryptFernet(key, token)).toEqual(data)
})

it('refuses another version', () => {
  const bytes = Buffer.from(TOKEN, 'base64url')
  bytes.writeUInt8(0x81, 0)
  expect(decryptFernet(KEY, `${bytes.toString('base64url')}==`)).toBeNull()
})

it('takes no key of another length', () => {
  expect(() => decryptFernet('AAAA', TOKEN)).toThrow('32 bytes')
})

it('gives back what it was given, and nothing after any change', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.nat(), fc.integer({ min: 1, max: 255 }), (data, position, flip) => {
      const token = encryptFernet(KEY, data, CREATED_SECONDS)
      expect(decryptFernet(KEY, token)).toEqual(Buffer.from(data))
      const bytes = Buffer.from(token, 'base64url')
      const index = position % bytes.length
      bytes.writeUInt8(bytes.readUInt8(index) ^ flip, index)
      const changed = bytes.toString('base64url')
      expect(decryptFernet(KEY, changed + '='.repeat((4 - (changed.length % 4)) % 4))).toBeNull()
    }),
  )
})
