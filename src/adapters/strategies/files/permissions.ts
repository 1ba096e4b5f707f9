import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownProgramEnvironment } from '../../own-program.ts'

/**
 * How Node starts a process that runs code of the user. Its permission model lets the process read the given folders and
 * files, and neither write, nor load native modules, nor start a program or a thread. The environment holds none of our
 * variables. So the code can read neither the environment of the service nor the identity, the vault and the settings.
 */
export const confinedTo = ({
  folders,
  files,
}: ReadablePlaces): { readonly flags: readonly string[]; readonly env: Record<string, string> } => ({
  flags: [
    process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission',
    ...withRealPaths(folders).map((folder) => `--allow-fs-read=${join(folder, '*')}`),
    ...withRealPaths(files).map((file) => `--allow-fs-read=${file}`),
    // Node 20 calls permissions an experiment.
    '--disable-warning=ExperimentalWarning',
  ],
  env: ownProgramEnvironment(process.env),
})

export interface ReadablePlaces {
  readonly folders: readonly string[]
  readonly files: readonly string[]
}

/** Folders that are needed to run a file of the user: its own, our code, and the package that translates files. */
export const foldersFor = (file: string): readonly string[] => [
  dirname(file),
  dirname(realPath(file)),
  PROGRAMS,
  dirname(dirname(createRequire(import.meta.url).resolve('jiti'))),
]

/** Folder of the bundled programs, which are all in one. */
const PROGRAMS = dirname(fileURLToPath(new URL('./own-code-process.ts', import.meta.url)))

/** A place by its name and by where it leads, since permissions are checked by name. */
const withRealPaths = (places: readonly string[]): readonly string[] => [
  ...new Set(places.flatMap((place) => [place, realPath(place)])),
]

const realPath = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    // A folder that does not exist has nothing to read.
    return path
  }
}
