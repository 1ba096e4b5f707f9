/**
 * The house's commands: `node tools/run.mjs start|test|build|check|bench [arguments]`.
 * Everything here and beside it is plain Node: in a fresh clone there are no packages yet.
 */
import process from 'node:process'

import { bench, build, check, start, test } from './commands.mjs'
import { ROOT } from './paths.mjs'
import { nodeFaultOf } from './setup.mjs'

const COMMANDS = { bench, build, check, start, test }

const [name = '', ...args] = process.argv.slice(2)
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
const fault =
  command === undefined
    ? `usage: node tools/run.mjs ${Object.keys(COMMANDS).join('|')} [arguments]`
    : nodeFaultOf(process.versions.node)

if (fault === undefined) {
  process.chdir(ROOT)
  await command(args)
} else {
  process.stderr.write(`${fault}\n`)
  process.exitCode = 2
}
