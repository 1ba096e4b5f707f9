// What programs of the user share, whatever they are written in.

export interface OwnProgramOptions {
  /** For loading the file and the first answer, and for each answer after that. */
  readonly loadMsMax: number
  readonly answerMsMax: number
  /** What it prints, cut off after a while. */
  readonly onOutput: (text: string) => void
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

/** What programs need to run, and none of our tokens and passwords. */
export const harmlessEnvironment = (
  variables: Readonly<Record<string, string | undefined>>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) =>
      value !== undefined && HARMLESS.test(name) ? [[name, value]] : [],
    ),
  )

const HARMLESS =
  /^(PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|PATHEXT|PYTHON\w*|PYENV\w*|VIRTUAL_ENV)$/i
