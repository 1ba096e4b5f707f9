import { keepAwake } from './compose/keep-awake.ts'
import { environmentOf, VERSION } from './compose/environment.ts'
import { runCommandLine } from './surfaces/cli/run.ts'

const currentFolder = process.cwd()
const at = (home: string) => environmentOf(home, process.env, VERSION)

const exitCode = await keepAwake(() =>
  runCommandLine(process.argv.slice(2), {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    currentFolder,
    version: VERSION,
    clock: at(currentFolder).clock,
    // Loaded only when a command runs: help and version need none of it.
    dependenciesAt: async (home) =>
      (await import('./compose/command-dependencies.ts')).createCommandDependencies(at(home)),
  }),
)
// Tests of strategies set it themselves when one fails.
if (exitCode !== 0) process.exitCode = exitCode
