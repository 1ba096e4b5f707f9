/**
 * Arrays as PostgreSQL sends them in binary: no quoting here, no parsing there.
 * For a batch of JSON texts that is most of the work of an insert.
 */
export const textArray = (texts: readonly (string | null)[]): Buffer =>
  encode(
    TEXT_TYPE,
    texts,
    (text) => Buffer.byteLength(text),
    (text, array, at) => array.write(text, at),
  )

/** Bytes given as hex digits. */
export const bytesArray = (hexes: readonly (string | null)[]): Buffer =>
  encode(
    BYTES_TYPE,
    hexes,
    (hex) => hex.length >>> 1,
    (hex, array, at) => array.write(hex, at, 'hex'),
  )

/** Whole numbers from 0 to 2^53. */
export const integerArray = (numbers: readonly number[]): Buffer =>
  encode(
    INTEGER_TYPE,
    numbers,
    () => INTEGER_BYTES,
    (number, array, at) => {
      array.writeUInt32BE(Math.floor(number / 0x1_0000_0000), at)
      array.writeUInt32BE(number % 0x1_0000_0000, at + 4)
      return INTEGER_BYTES
    },
  )

const TEXT_TYPE = 25
const BYTES_TYPE = 17
const INTEGER_TYPE = 20

const INTEGER_BYTES = 8
const HEADER_BYTES = 20
const LENGTH_BYTES = 4
const NULL_LENGTH = -1

const encode = <Value>(
  elementType: number,
  values: readonly (Value | null)[],
  lengthOf: (value: Value) => number,
  write: (value: Value, array: Buffer, at: number) => number,
): Buffer => {
  const lengths = values.map((value) => (value === null ? NULL_LENGTH : lengthOf(value)))
  const size = lengths.reduce((sum, length) => sum + LENGTH_BYTES + Math.max(length, 0), HEADER_BYTES)
  const array = Buffer.allocUnsafe(size)
  writeHeader(array, elementType, lengths)
  let at = HEADER_BYTES
  values.forEach((value, index) => {
    const length = lengths[index] ?? NULL_LENGTH
    array.writeInt32BE(length, at)
    at += LENGTH_BYTES
    if (value === null) return
    // The buffer is not blank: what is not written over would go to the server.
    if (write(value, array, at) !== length) throw new Error(`cannot encode ${String(value)}`)
    at += length
  })
  return array
}

const writeHeader = (array: Buffer, elementType: number, lengths: readonly number[]): void => {
  const dimensions = 1
  const lowerBound = 1
  array.writeInt32BE(dimensions, 0)
  array.writeInt32BE(lengths.includes(NULL_LENGTH) ? 1 : 0, 4)
  array.writeInt32BE(elementType, 8)
  array.writeInt32BE(lengths.length, 12)
  array.writeInt32BE(lowerBound, 16)
}
