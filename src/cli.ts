import { keepAwake } from './compose/keep-awake.ts'
import { surroundingsOf } from './compose/surroundings.ts'
import { VERSION } from './compose/version.ts'
import { createWorkshop } from './compose/workshop.ts'
import { runCommandLine } from './surfaces/cli/run.ts'

const currentFolder = process.cwd()
const at = (home: string) => surroundingsOf(home, process.env, VERSION)

process.exitCode = await keepAwake(() =>
  runCommandLine(process.argv.slice(2), {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    currentFolder,
    version: VERSION,
    clock: at(currentFolder).clock,
    workshopAt: (home) => createWorkshop(at(home)),
  }),
)
