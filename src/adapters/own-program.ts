// Shared by the user's programs in any language.

export interface OwnProgramOptions {
  /** Time limits: first for loading the file and the first answer, then for each later answer. */
  readonly loadMsMax: number
  readonly answerMsMax: number
  /** Receives the program's output, up to a limit. */
  readonly onOutput: (text: string) => void
}

export interface OwnCodeOptions extends OwnProgramOptions {
  /** True in a backtest. The code then ends with the run, and has the rights of its process. */
  readonly isBacktest: boolean
}

const OUTPUT_CHARACTERS_MAX = 65_536

/** Passes on the first part of what a program prints. */
export const cutOff = (onOutput: OwnProgramOptions['onOutput']): ((text: string) => void) => {
  let left = OUTPUT_CHARACTERS_MAX
  return (text) => {
    if (left > 0) onOutput(text.slice(0, left))
    left -= text.length
  }
}

/** What is needed to find a program, and for the same clock and language: nothing that could hold a secret. */
export const ownProgramEnvironment = (
  variables: Readonly<Record<string, string | undefined>>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) =>
      value !== undefined && NEEDED.has(name.toUpperCase()) ? [[name, value]] : [],
    ),
  )

const NEEDED: ReadonlySet<string> = new Set(['PATH', 'PATHEXT', 'SYSTEMROOT', 'TZ', 'LANG', 'LC_ALL'])

/** Programs of one group end together. */
export const HAS_GROUPS = process.platform !== 'win32'
