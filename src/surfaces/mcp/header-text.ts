const ENCODED = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/

/** Names that do not fit into a header are sent as `=?base64?…?=`. Null if what is inside is no text. */
export const decodeHeaderText = (header: string): string | null => {
  const base64 = ENCODED.exec(header)?.[1]
  if (base64 === undefined) return header
  const text = Buffer.from(base64, 'base64').toString('utf8')
  // One text has one encoding: another one that reads the same would pass what a proxy has refused.
  return Buffer.from(text).toString('base64') === base64 ? text : null
}
