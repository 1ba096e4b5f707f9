import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import process from 'node:process'

const FORWARDED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Runs a command to its end and keeps what it printed, for steps that are silent unless they fail. */
export const runCaptured = async (command, args, { cwd, env = {} } = {}) => {
  const chunks = []
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.on('data', (chunk) => chunks.push(chunk))
  child.stderr.on('data', (chunk) => chunks.push(chunk))
  const exitCode = await ended(child)
  return { exitCode, output: Buffer.concat(chunks).toString('utf8') }
}

/** Runs a command to its end with our own input and output. */
export const runVisibly = (command, args, { cwd, env = {} } = {}) =>
  ended(spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: 'inherit' }))

/**
 * The exit code; as in a shell, 128 and the signal's number when a signal ended the process.
 * A signal to us goes on to the child, and we end after it: nobody is left running behind our back.
 */
const ended = (child) =>
  new Promise((resolve, reject) => {
    let received
    const forward = (signal) => {
      received = signal
      child.kill(signal)
    }
    for (const signal of FORWARDED_SIGNALS) process.on(signal, forward)
    child.on('error', reject)
    child.on('close', (code, signal) => {
      for (const forwarded of FORWARDED_SIGNALS) process.off(forwarded, forward)
      if (received !== undefined) process.exit(exitCodeOf(received))
      resolve(code ?? exitCodeOf(signal))
    })
  })

const exitCodeOf = (signal) => 128 + constants.signals[signal]
