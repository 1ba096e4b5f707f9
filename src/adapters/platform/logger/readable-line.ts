/** A record as one line for people: time, level, message, then the fields. */
export const readableLine = (record: Readonly<Record<string, unknown>>): string => {
  const { ts, level, message, ...fields } = record
  const shown = Object.entries(fields).map(([name, value]) => `${printable(name)}=${fieldText(value)}`)
  const head = `${wordOf(ts)} ${wordOf(level).padEnd(LEVEL_WIDTH)} ${printable(wordOf(message))}`
  return `${[head, ...shown].join(' ')}\n`
}

const LEVEL_WIDTH = 'WARNING'.length
const PLAIN_WORD = /^[\w.:/@*+-]+$/

const wordOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const fieldText = (value: unknown): string =>
  typeof value === 'string' && PLAIN_WORD.test(value) ? value : printable(JSON.stringify(value))

/** One record is one line, and no text from outside can move the cursor or forge a second record. */
const printable = (text: string): string =>
  text.replace(UNPRINTABLE, (unit) => JSON.stringify(unit).slice(1, -1))

// oxlint-disable-next-line no-control-regex -- control characters are exactly what this looks for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g
