import { examples, type DefineCommand, type Invocation } from '../command.ts'
import type { CommandDependencies, IdentityDescription } from '../dependencies.ts'
import { EXIT_FAILED, EXIT_OK, type ExitCode } from '../failure.ts'
import { bad, fields, good, quiet, warning, type Cell, type Row } from '../table.ts'
import { verifySession } from '../verification.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description(
      'Checks the settings, the store, the identity and the vault of this home, and asks its running service.',
    )
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
  // The settings name the store: without them there is none to open.
  const { store, error } = config.ok ? await storeHealth(dependencies) : NO_STORE
  const service = await dependencies.findService()
  const found: Health = {
    ok: config.ok && store.present && store.chain_ok !== false,
    version: dependencies.version,
    config,
    store,
    identity: await dependencies.identity.describe(),
    vault: { present: await dependencies.vault.isPresent() },
    service: {
      reachable: service !== null,
      version: service?.version ?? null,
      uptime_seconds: service?.uptimeSeconds ?? null,
    },
  }
  const storeText = config.ok ? storeCell(store, error) : quiet('not checked: the settings are not valid')
  await print.result(found, (style) => fields(rowsOf(found, storeText, service?.baseUrl ?? ''), style))
  // The JSON report has no member for why a store cannot be opened; the error stream has.
  if (error !== null) throw error
  return found.ok ? EXIT_OK : EXIT_FAILED
}

const configHealth = async ({ configuration }: CommandDependencies): Promise<Health['config']> => {
  const { path, present } = await configuration.describe()
  const opened = await configuration.open()
  if (opened.status === 'opened') return { path, present, ok: true, error: null }
  return { path, present, ok: false, error: opened.problems.join('; ') }
}

interface StoreHealth {
  readonly store: Health['store']
  /** Why the store could not be opened. */
  readonly error: Error | null
}

const NO_STORE: StoreHealth = {
  store: { kind: null, present: false, event_count: null, chain_ok: null },
  error: null,
}

const storeHealth = async (dependencies: CommandDependencies): Promise<StoreHealth> => {
  try {
    const session = await dependencies.openExistingStore()
    if (session === null) return NO_STORE
    try {
      const { ok, event_count } = await verifySession(dependencies, session, { mode: 'fast', n: FAST_EVENTS })
      return { store: { kind: session.log.kind, present: true, event_count, chain_ok: ok }, error: null }
    } finally {
      await session.close()
    }
  } catch (error) {
    // The rest of the report is printed whatever state the store is in.
    return { ...NO_STORE, error: error instanceof Error ? error : new Error(String(error)) }
  }
}

const rowsOf = (found: Health, storeText: Cell, baseUrl: string): readonly Row[] => {
  const { ok, version, config, identity, vault, service } = found
  return [
    ['Health', ok ? good('ok') : bad('not ok')],
    ['Version', version],
    [
      'Settings',
      config.ok
        ? good(`valid, ${config.present ? config.path : 'no user.yaml, defaults only'}`)
        : bad(config.error ?? 'not valid'),
    ],
    ['Store', storeText],
    ['Identity', identityCell(identity)],
    ['Vault', vault.present ? 'present' : quiet('none')],
    [
      'Service',
      service.reachable
        ? good(`running at ${baseUrl}, version ${service.version}, up ${service.uptime_seconds} s`)
        : quiet('not running: start it with "svc up"'),
    ],
  ]
}

const storeCell = ({ kind, present, event_count, chain_ok }: Health['store'], error: Error | null): Cell => {
  if (error !== null) return bad(`cannot be opened: ${error.message}`)
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
