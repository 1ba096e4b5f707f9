/** What a piece of text means; how that looks depends on where it is shown. */
export type Tone = 'plain' | 'heading' | 'quiet' | 'good' | 'warning' | 'bad'

export type Paint = (tone: Tone, text: string) => string

/** Colour only where a person looks, and not when that person asked for none (no-color.org). */
export const paintFor = (
  stream: { readonly isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
): Paint => {
  const wanted = stream.isTTY === true && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb'
  return wanted ? inColour : PLAIN
}

export const PLAIN: Paint = (_tone, text) => text

const inColour: Paint = (tone, text) => {
  const code = CODES[tone]
  return code === null || text === '' ? text : `\u001b[${code}m${text}\u001b[0m`
}

const CODES: Readonly<Record<Tone, string | null>> = {
  plain: null,
  heading: '1',
  quiet: '2',
  good: '32',
  warning: '33',
  bad: '31',
}
