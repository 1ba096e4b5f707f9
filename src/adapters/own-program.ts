// Shared by the user's programs in any language.

export interface OwnProgramOptions {
  /** Time limits: first for loading the file and the first answer, then for each later answer. */
  readonly loadMsMax: number
  readonly answerMsMax: number
  /** Receives the program's output, up to a limit. */
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

/** The environment variables that programs need to run. Tokens and passwords are left out. */
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
