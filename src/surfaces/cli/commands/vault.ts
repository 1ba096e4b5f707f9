import { parser } from '../arguments.ts'
import type { DefineCommand } from '../command.ts'
import { Failure, UsageError } from '../failure.ts'
import { recordingInLog } from '../store.ts'
import { printable } from '../table.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Keeps secrets such as venue keys in identity/vault.json, encrypted with SVC_MASTER_PASSWORD. Values come ' +
        'from standard input and are never shown.',
    )
    .examples('svc vault set venue.api_key < key.txt', 'svc vault list', 'svc vault remove venue.api_key')
  command
    .command('set')
    .summary('store a secret read from standard input')
    .argument('<name>', 'for example venue.api_key', parseName)
    .runs(async (invocation, name: string) => {
      const value = await invocation.ask(`Value of ${name}: `, 'hidden')
      if (value === '') throw new UsageError('the value on standard input is empty')
      await recordingInLog(invocation, async (record) => {
        await invocation.vault.set(name, value)
        await record('vault set')
      })
      return { document: { name, stored: true }, text: `${name} is stored\n` }
    })
  command
    .command('list')
    .summary('names, not values')
    .runs(async ({ vault }) => {
      const names = await vault.list()
      const lines = names.map((name) => `${printable(name)}\n`)
      return { document: { names }, text: lines.join('') || 'The vault is empty.\n' }
    })
  command
    .command('remove')
    .summary('forget a secret')
    .argument('<name>', 'as "svc vault list" shows it', parseName)
    .runs(async (invocation, name: string) => {
      await recordingInLog(invocation, async (record) => {
        if (!(await invocation.vault.remove(name))) throw notInVault(name)
        await record('vault remove')
      })
      return { document: { name, removed: true }, text: `${name} is removed\n` }
    })
}

const notInVault = (name: string): Failure =>
  new Failure('vault.not_found', `the vault has no secret named ${name}`, {
    advice: 'See what it has with "svc vault list".',
  })

const parseName = parser(
  (text) => (/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/.test(text) ? text : null),
  'It must be 1 to 128 letters, digits, dots, colons, dashes or underscores.',
)
