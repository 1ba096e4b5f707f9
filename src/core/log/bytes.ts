/** Converts bytes to text without Node: core hashes and signs through functions that callers pass in. */

const HEX_DIGITS = '0123456789abcdef'
const NO_DIGIT = 16
/** The value of each character up to `f`. A table, because every event is read through it. */
const HEX_VALUES = Uint8Array.from({ length: 103 }, (_, unit) => {
  const value = HEX_DIGITS.indexOf(String.fromCharCode(unit))
  return value === -1 ? NO_DIGIT : value
})

export const hexFromBytes = (bytes: Uint8Array): string => {
  let hex = ''
  for (const byte of bytes) hex += HEX_DIGITS.charAt(byte >> 4) + HEX_DIGITS.charAt(byte & 15)
  return hex
}

/** Lower-case hex of whole bytes; anything else is null. */
export const bytesFromHex = (hex: string): Uint8Array | null => {
  if (hex.length % 2 !== 0) return null
  const bytes = new Uint8Array(hex.length / 2)
  for (let index = 0; index < bytes.length; index += 1) {
    const high = HEX_VALUES[hex.charCodeAt(index * 2)] ?? NO_DIGIT
    const low = HEX_VALUES[hex.charCodeAt(index * 2 + 1)] ?? NO_DIGIT
    if ((high | low) >= NO_DIGIT) return null
    bytes[index] = high * 16 + low
  }
  return bytes
}

export const base64FromBytes = (bytes: Uint8Array): string => {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** Decodes RFC 4648 section 4 with padding and nothing else, so that each value has exactly one text. */
export const bytesFromBase64 = (text: string): Uint8Array | null => {
  if (!BASE64.test(text)) return null
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  return base64FromBytes(bytes) === text ? bytes : null
}

export const concatBytes = (...parts: readonly Uint8Array[]): Uint8Array => {
  let length = 0
  for (const part of parts) length += part.length
  const whole = new Uint8Array(length)
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}

export const sameBytes = (left: Uint8Array, right: Uint8Array): boolean =>
  left.length === right.length && left.every((byte, index) => byte === right[index])

export const utf8 = (text: string): Uint8Array => UTF8.encode(text)

const UTF8 = new TextEncoder()

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
