import { InvalidArgumentError } from 'commander'
import { examples, type Invocation, type DefineCommand } from '../command.ts'
import { Failure, UsageError } from '../failure.ts'
import { recordingInLog } from '../store.ts'
import { printable } from '../table.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description(
      'Keeps secrets such as venue keys in identity/vault.json, encrypted with SVC_MASTER_PASSWORD. Values come ' +
        'from standard input and are never shown.',
    )
    .addHelpText(
      'after',
      examples('svc vault set venue.api_key < key.txt', 'svc vault list', 'svc vault remove venue.api_key'),
    )
  command
    .command('set')
    .summary('store a secret read from standard input')
    .argument('<name>', 'for example venue.api_key', parseName)
    .action(run(setSecret))
  command.command('list').summary('names, not values').action(run(listSecrets))
  command
    .command('remove')
    .summary('forget a secret')
    .argument('<name>', 'as "svc vault list" shows it', parseName)
    .action(run(removeSecret))
}

const setSecret = async (invocation: Invocation, name: string): Promise<void> => {
  const value = await invocation.readSecret(`Value of ${name}: `)
  if (value === '') throw new UsageError('the value on standard input is empty')
  await recordingInLog(invocation, async (record) => {
    await invocation.dependencies.vault.set(name, value)
    await record('vault set')
  })
  await invocation.print.result({ name, stored: true }, () => `${name} is stored\n`)
}

const listSecrets = async ({ dependencies, print }: Invocation): Promise<void> => {
  const names = await dependencies.vault.list()
  await print.result({ names }, () =>
    names.length === 0 ? 'The vault is empty.\n' : names.map((name) => `${printable(name)}\n`).join(''),
  )
}

const removeSecret = async (invocation: Invocation, name: string): Promise<void> => {
  await recordingInLog(invocation, async (record) => {
    if (!(await invocation.dependencies.vault.remove(name))) throw notInVault(name)
    await record('vault remove')
  })
  await invocation.print.result({ name, removed: true }, () => `${name} is removed\n`)
}

const notInVault = (name: string): Failure =>
  new Failure('vault.not_found', `the vault has no secret named ${name}`, {
    advice: 'See what it has with "svc vault list".',
  })

const NAME = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/

const parseName = (text: string): string => {
  if (!NAME.test(text))
    throw new InvalidArgumentError(
      'It must be 1 to 128 letters, digits, dots, colons, dashes or underscores.',
    )
  return text
}
