import { InvalidArgumentError } from 'commander'
import { examples, type Bench, type CliCommand } from '../command.ts'
import { EXIT_OK, Failure, UsageError, type ExitCode } from '../failure.ts'
import { recordingInLog } from '../store.ts'
import { printable } from '../table.ts'

export const vault: CliCommand = {
  group: 'Settings',
  add: (program, task) => {
    const command = program
      .command('vault')
      .summary('secrets, encrypted at rest')
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
      .action(task(setSecret))
    command.command('list').summary('names, not values').action(task(listSecrets))
    command
      .command('remove')
      .summary('forget a secret')
      .argument('<name>', 'as "svc vault list" shows it', parseName)
      .action(task(removeSecret))
    return command
  },
}

const setSecret = async (bench: Bench, name: string): Promise<ExitCode> => {
  const value = await bench.readSecret(`Value of ${name}: `)
  if (value === '') throw new UsageError('the value on standard input is empty')
  await recordingInLog(bench, async (record) => {
    await bench.dependencies.vault.set(name, value)
    await record('vault set')
  })
  await bench.print.result({ name, stored: true }, () => `${name} is stored\n`)
  return EXIT_OK
}

const listSecrets = async ({ dependencies, print }: Bench): Promise<ExitCode> => {
  const names = await dependencies.vault.list()
  await print.result({ names }, () =>
    names.length === 0 ? 'The vault is empty.\n' : names.map((name) => `${printable(name)}\n`).join(''),
  )
  return EXIT_OK
}

const removeSecret = async (bench: Bench, name: string): Promise<ExitCode> => {
  await recordingInLog(bench, async (record) => {
    if (!(await bench.dependencies.vault.remove(name))) throw notInVault(name)
    await record('vault remove')
  })
  await bench.print.result({ name, removed: true }, () => `${name} is removed\n`)
  return EXIT_OK
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
