import { verifyLog } from '../../../engine/integrity/verify.ts'
import type { IdentityDescription } from '../../../ports/signer.ts'
import type { DefineCommand, Invocation } from '../command.ts'
import { EXIT_FAILED, EXIT_OK } from '../failure.ts'
import { MISSING_STEPS, missingSentence } from '../missing-store.ts'
import { bad, fields, good, quiet, warning, type Cell, type Row } from '../table.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Checks the settings, the store, the identity and the vault of this home, and asks its running service.',
    )
    .examples('svc health', 'svc health --json')
    .runs(async (invocation) => {
      const { document, text, error } = await healthOf(invocation)
      if (error === null) return { document, text, exitCode: document.ok ? EXIT_OK : EXIT_FAILED }
      // The JSON report has no member for why a store cannot be opened; the error stream has.
      await invocation.print.result(document, text)
      throw error
    })
}

const healthOf = async (invocation: Invocation) => {
  const { version, configuration, identity, vault, findService } = invocation
  const opened = await configuration.open()
  const problems = opened.status === 'invalid' ? opened.problems : []
  const isValid = opened.status === 'opened'
  const config = {
    ...configuration.describe(),
    ok: isValid,
    error: isValid ? null : problems.join('; '),
  }
  // The settings name the store: without them there is none to open.
  const { error, checked, ...store } = isValid ? await storeHealth(invocation) : NO_STORE
  const missing = isValid ? await invocation.missingStore() : null
  const service = await findService()
  const document = {
    ok: isValid && store.present && store.chain_ok !== false,
    version,
    config,
    store,
    identity: await identity.describe(),
    vault: { present: await vault.isPresent() },
    service: {
      reachable: service !== null,
      version: service?.version ?? null,
      uptime_seconds: service?.uptimeSeconds ?? null,
    },
  }
  const text = fields([
    ['Health', document.ok ? good('ok') : bad('not ok')],
    ['Version', version],
    [
      'Settings',
      isValid
        ? good(`valid, ${config.present ? config.path : 'no user.yaml, defaults only'}`)
        : bad(config.error ?? ''),
    ],
    [
      'Store',
      isValid ? storeCell({ ...store, checked, error, missing }, invocation.home) : quiet(NOT_CHECKED),
    ],
    ...(missing === null ? [] : MISSING_STEPS.map((step, index): Row => [`Step ${index + 1}`, step])),
    ['Identity', identityCell(document.identity)],
    ['Vault', document.vault.present ? 'present' : quiet('none')],
    [
      'Service',
      service === null
        ? quiet('not running: start it with "svc up"')
        : good(`running at ${service.baseUrl}, version ${service.version}, up ${service.uptimeSeconds} s`),
    ],
  ])
  return { document, text, error }
}

const NOT_CHECKED = 'not checked: the settings are not valid'

const FAST_EVENTS = 100

interface StoreHealth {
  readonly kind: string | null
  readonly present: boolean
  readonly event_count: number | null
  readonly chain_ok: boolean | null
  /** How many of the newest events were verified. */
  readonly checked: number
  /** Why the store could not be opened. */
  readonly error: Error | null
}

const NO_STORE: StoreHealth = {
  kind: null,
  present: false,
  event_count: null,
  chain_ok: null,
  checked: 0,
  error: null,
}

const storeHealth = async ({ openExistingStore, clock }: Invocation): Promise<StoreHealth> => {
  try {
    await using session = await openExistingStore()
    if (session === null) return NO_STORE
    const { log, checkpoints, trust } = session
    const options = { mode: 'fast', n: FAST_EVENTS, checkpoints, trust, clock } as const
    const { ok, event_count, checked } = await verifyLog(log, options)
    return { kind: log.kind, present: true, event_count, chain_ok: ok, checked, error: null }
  } catch (error) {
    // The rest of the report is printed whatever state the store is in.
    return { ...NO_STORE, error: error instanceof Error ? error : new Error(String(error)) }
  }
}

const storeCell = (
  { kind, present, event_count, chain_ok, checked, error, missing }: StoreHealth & { missing: string | null },
  home: string,
): Cell => {
  if (error !== null) return bad(`cannot be opened: ${error.message}`)
  if (missing !== null) return bad(missingSentence(home, missing))
  if (!present) return bad('none yet: "svc up" creates it')
  if (chain_ok === false) return bad(`${kind}, ${event_count} events, chain broken: see "svc integrity"`)
  return good(`${kind}, ${checkedText(checked, event_count ?? 0)}`)
}

/** The sentence names what was verified: a fault before these events does not show here. */
const checkedText = (checked: number, count: number): string => {
  const [some, all] = [checked, count].map((number) => number.toLocaleString('en-US'))
  return checked < count
    ? `the last ${some} of ${all} events verified ("svc integrity" verifies all)`
    : `all ${all} events verified`
}

const identityCell = ({ present, node_id, encrypted, error }: IdentityDescription): Cell => {
  if (error !== null) return bad(error)
  if (!present) return warning('none saved: each process signs with a key of its own')
  return `${node_id}, private key ${encrypted === true ? 'encrypted' : 'in plain text'}`
}
