import { spawn } from 'node:child_process'
import { programOf } from '../program.fixture.ts'

export interface ScriptEnd {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a script of this folder as a process of its own, under limits that the shell sets before it. */
export const runScript = (
  script: string,
  args: readonly string[],
  { shellSetup = ':' }: { readonly shellSetup?: string } = {},
): Promise<ScriptEnd> => {
  const command = [process.execPath, programOf(`crash/${script}`), ...args]
  const child = spawn('sh', ['-c', `${shellSetup}; exec "$0" "$@"`, ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, ...output }))
  })
}
