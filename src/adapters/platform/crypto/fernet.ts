import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** A Fernet token: version, time, IV, AES-128-CBC, HMAC-SHA256. `key` is the base64url form of 32 bytes. */
export const encryptFernet = (
  key: string,
  data: Uint8Array,
  timeSeconds: number,
  iv: Uint8Array = randomBytes(IV_BYTES),
): string => {
  const { signing, encryption } = halvesOf(key)
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt8(VERSION, 0)
  header.writeBigUInt64BE(BigInt(timeSeconds), 1)
  const cipher = createCipheriv('aes-128-cbc', encryption, iv)
  const signed = Buffer.concat([header, iv, cipher.update(data), cipher.final()])
  return base64Url(Buffer.concat([signed, macOf(signing, signed)]))
}

/** Content of the token, whatever its age. Null if the token is damaged or was made with another key. */
export const decryptFernet = (key: string, token: string): Buffer | null => {
  const { signing, encryption } = halvesOf(key)
  const bytes = Buffer.from(token, 'base64url')
  // Node ignores characters that are not base64. A token that does not encode back to itself is invalid.
  if (base64Url(bytes) !== token) return null
  if (bytes.length < TOKEN_BYTES_MIN || (bytes.length - FIXED_BYTES) % BLOCK_BYTES !== 0) return null
  if (bytes.readUInt8(0) !== VERSION) return null
  const signed = bytes.subarray(0, -MAC_BYTES)
  if (!timingSafeEqual(macOf(signing, signed), bytes.subarray(-MAC_BYTES))) return null
  const iv = signed.subarray(HEADER_BYTES, HEADER_BYTES + IV_BYTES)
  const decipher = createDecipheriv('aes-128-cbc', encryption, iv)
  try {
    return Buffer.concat([decipher.update(signed.subarray(HEADER_BYTES + IV_BYTES)), decipher.final()])
  } catch {
    // Wrong padding under a right MAC: the token was built wrongly and counts as damaged.
    return null
  }
}

const VERSION = 0x80
const HEADER_BYTES = 9
const IV_BYTES = 16
const BLOCK_BYTES = 16
const MAC_BYTES = 32
const FIXED_BYTES = HEADER_BYTES + IV_BYTES + MAC_BYTES
const TOKEN_BYTES_MIN = FIXED_BYTES + BLOCK_BYTES

const halvesOf = (key: string): { readonly signing: Buffer; readonly encryption: Buffer } => {
  const bytes = Buffer.from(key, 'base64url')
  if (bytes.length !== 32) throw new Error('a Fernet key has 32 bytes')
  return { signing: bytes.subarray(0, 16), encryption: bytes.subarray(16) }
}

const macOf = (signing: Buffer, signed: Buffer): Buffer =>
  createHmac('sha256', signing).update(signed).digest()

/** Fernet uses the padding that Node's base64url leaves out. */
const base64Url = (bytes: Buffer): string => {
  const text = bytes.toString('base64url')
  return text + '='.repeat((4 - (text.length % 4)) % 4)
}
