/** For code of the user: what programs need to run, and none of our tokens and passwords. */
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
