import { examples, type Invocation, type DefineCommand } from '../command.ts'
import { EXIT_FAILED, EXIT_OK, type ExitCode } from '../failure.ts'
import { verifySession } from '../verification.ts'
import { bad, fields, good, quiet, warning, type Cell } from '../table.ts'
import type { IdentityDescription, CommandDependencies } from '../dependencies.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description('Looks at the settings, the store, the identity, the vault and the running service.')
    .addHelpText('after', examples('svc health', 'svc health --json'))
    .action(run(showHealth))
}

interface Health {
  readonly ok: boolean
  readonly version: string
  readonly config: {
    readonly path: string
    readonly present: boolean
    readonly ok: boolean
    readonly error: string | null
  }
  readonly store: {
    readonly kind: string | null
    readonly present: boolean
    readonly event_count: number | null
    readonly chain_ok: boolean | null
  }
  readonly identity: IdentityDescription
  readonly vault: { readonly present: boolean }
  readonly service: {
    readonly reachable: boolean
    readonly version: string | null
    readonly uptime_seconds: number | null
  }
}

const FAST_EVENTS = 100

const showHealth = async ({ dependencies, print }: Invocation): Promise<ExitCode> => {
  const config = await configHealth(dependencies)
  // Which store it is stands in the settings: without them there is none to look at.
  const { store, trouble } = config.ok ? await storeHealth(dependencies) : NOTHING_TO_SEE
  const found: Health = {
    ok: config.ok && store.present && store.chain_ok !== false,
    version: dependencies.version,
    config,
    store,
    identity: await dependencies.identity.describe(),
    vault: { present: await dependencies.vault.isPresent() },
    // Where it listens stands in the settings, too.
    service: config.ok ? await serviceHealth(dependencies) : NO_SERVICE,
  }
  await print.result(found, (paint) => fields(rowsOf(found), paint))
  // The report has no place for why a store cannot be opened; the error stream has.
  if (trouble !== null) throw trouble
  return found.ok ? EXIT_OK : EXIT_FAILED
}

const configHealth = async ({ configuration }: CommandDependencies): Promise<Health['config']> => {
  const { path, present } = await configuration.describe()
  const opened = await configuration.open()
  if (opened.status === 'opened') return { path, present, ok: true, error: null }
  return { path, present, ok: false, error: opened.problems.join('; ') }
}

const NO_STORE: Health['store'] = { kind: null, present: false, event_count: null, chain_ok: null }

interface StoreLook {
  readonly store: Health['store']
  /** Why the store could not be looked at. */
  readonly trouble: Error | null
}

const NOTHING_TO_SEE: StoreLook = { store: NO_STORE, trouble: null }

const storeHealth = async (dependencies: CommandDependencies): Promise<StoreLook> => {
  try {
    return await lookAtStore(dependencies)
  } catch (error) {
    // A report on health must come out whatever state the store is in.
    return { store: NO_STORE, trouble: error instanceof Error ? error : new Error(String(error)) }
  }
}

const lookAtStore = async (dependencies: CommandDependencies): Promise<StoreLook> => {
  const session = await dependencies.openExistingStore()
  if (session === null) return NOTHING_TO_SEE
  try {
    const { ok, event_count } = await verifySession(dependencies, session, { mode: 'fast', n: FAST_EVENTS })
    const store = { kind: session.log.kind, present: true, event_count, chain_ok: ok }
    return { store, trouble: null }
  } finally {
    await session.close()
  }
}

const NO_SERVICE: Health['service'] = { reachable: false, version: null, uptime_seconds: null }

const serviceHealth = async (dependencies: CommandDependencies): Promise<Health['service']> => {
  const answer = await dependencies.askService()
  return {
    reachable: answer !== null,
    version: answer?.version ?? null,
    uptime_seconds: answer?.uptime_seconds ?? null,
  }
}

const rowsOf = ({
  ok,
  version,
  config,
  store,
  identity,
  vault,
  service,
}: Health): readonly (readonly [string, Cell])[] => [
  ['Health', ok ? good('well') : bad('not well')],
  ['Version', version],
  ['Settings', config.ok ? good(`valid, ${fileWords(config)}`) : bad(config.error ?? 'not valid')],
  ['Store', storeCell(store)],
  ['Identity', identityCell(identity)],
  ['Vault', vault.present ? 'present' : quiet('none')],
  [
    'Service',
    service.reachable
      ? good(`answers, version ${service.version}, up ${service.uptime_seconds} s`)
      : quiet('does not answer: start it with "svc up"'),
  ],
]

const fileWords = ({ path, present }: Health['config']): string =>
  present ? path : 'no user.yaml, defaults only'

const storeCell = ({ kind, present, event_count, chain_ok }: Health['store']): Cell => {
  if (!present) return bad('none yet: "svc up" creates it')
  const text = `${kind}, ${event_count} events`
  return chain_ok === false
    ? bad(`${text}, chain broken: see "svc integrity"`)
    : good(`${text}, chain intact`)
}

const identityCell = ({ present, node_id, encrypted, error }: IdentityDescription): Cell => {
  if (error !== null) return bad(error)
  if (!present) return warning('none saved: each process signs with a key of its own')
  return `${node_id}, private key ${encrypted === true ? 'encrypted' : 'in plain text'}`
}
