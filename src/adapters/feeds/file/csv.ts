/** The fields of one line; null when a quote is not closed. */
export const splitCsv = (line: string): readonly string[] | null => {
  if (!line.includes('"')) return line.split(',')
  const fields: string[] = []
  let place = 0
  for (;;) {
    const field = line.startsWith('"', skipBlanks(line, place))
      ? quotedField(line, skipBlanks(line, place))
      : plainField(line, place)
    if (field === null) return null
    fields.push(field.text)
    if (field.end >= line.length) return fields
    place = field.end + 1
  }
}

interface Field {
  readonly text: string
  /** Of the comma behind it, or the length of the line. */
  readonly end: number
}

const plainField = (line: string, from: number): Field => {
  const end = commaAfter(line, from)
  return { text: line.slice(from, end), end }
}

/** A doubled quote is one quote. */
const quotedField = (line: string, from: number): Field | null => {
  let text = ''
  let place = from + 1
  for (;;) {
    const quote = line.indexOf('"', place)
    if (quote === -1) return null
    text += line.slice(place, quote)
    if (line[quote + 1] !== '"') {
      const end = commaAfter(line, quote)
      return line.slice(quote + 1, end).trim() === '' ? { text, end } : null
    }
    text += '"'
    place = quote + 2
  }
}

const commaAfter = (line: string, from: number): number => {
  const comma = line.indexOf(',', from)
  return comma === -1 ? line.length : comma
}

const skipBlanks = (line: string, from: number): number => {
  let place = from
  while (line[place] === ' ') place += 1
  return place
}
