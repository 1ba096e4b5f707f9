/** One line of RFC 4180. Fields are quoted when they must be; their content is never changed. */
export const csvLine = (values: readonly (string | number | null)[]): string =>
  `${values.map(fieldOf).join(',')}\r\n`

const fieldOf = (value: string | number | null): string => {
  const text = value === null ? '' : String(value)
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Blanks at the ends are part of a field, but not every reader believes so without quotes. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/
