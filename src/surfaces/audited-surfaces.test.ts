import type { Command } from 'commander'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { TOOLS } from '../core/views/capabilities.ts'
import { auditDecisions } from '../engine/audit/audit-decisions.ts'
import {
  BY_COMMAND,
  BY_ROUTE,
  BY_TOOL,
  closeSurfaces,
  configurationNow,
  keySecrets,
  LIVE,
  log,
  MASTER_PASSWORD,
  openSurfaces,
  startLive,
  tryAll,
} from './audited-surfaces.fixture.ts'
import { buildProgram, COMMANDS } from './cli/program.ts'
import { redactText } from '../core/operations/redaction.ts'
import { parseCommands } from '../core/stored-commands.ts'
import { stampedFrom, type Stamped } from '../core/log/event.ts'
import type { Command as EngineCommand } from '../core/decide.ts'
import { actionOf } from './http/route.ts'
import { ROUTES } from './http/routes/all.ts'
import { OPERATOR_TOKEN, TOKEN, VERSION } from './http/test-server.fixture.ts'

/*
 * Every route, tool and command that changes the state runs on one log. The audit must find nothing different: an honest
 * user is never reported. The lists of routes, tools and commands are those of the product, so a new one has to be tried
 * here or named among the exceptions.
 */

beforeAll(openSurfaces)
afterAll(closeSurfaces)

/** Surfaces that cannot be tried here, with the reason. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  postMcpMessage: 'carries the tools, each of which is posted to it here',
  'identity create': 'done before all others, on the same log: without a key the home writes nothing',
  doctor: 'repairs leases and indexes, which a log in memory does not have: src/compose/doctor.test.ts',
}

/** Commands that write nothing into the log of a home. */
const READING = new Set([
  'audit',
  'backtest',
  'backup',
  'brain explain',
  'brain status',
  'config schema',
  'config show',
  'config validate',
  'contributors explain',
  'contributors leaderboard',
  'contributors list',
  'contributors score',
  'data check',
  'data download',
  'data export',
  'data import',
  'data list',
  'divergence',
  'export',
  'export equity',
  'export events',
  'export karma',
  'export trades',
  'health',
  'identity show',
  'import',
  'intents list',
  'karma intents',
  'karma receipts',
  'karma treasury',
  'keys list',
  'kill-switch status',
  'learn history',
  'live status',
  'mcp',
  'new producer',
  'new strategy',
  'orders list',
  'portfolio',
  'positions list',
  'producers list',
  'producers status',
  'prove',
  'replay',
  'restore',
  'serve',
  'strategies list',
  'strategies test',
  'sweep',
  'up',
  'vault list',
  'venues',
  'verify-proof',
  'worker',
])

const leavesOf = (of: Command, names: readonly string[] = []): readonly string[] => {
  const inner = of.commands.flatMap((one) => leavesOf(one, [...names, one.name()]))
  const own = of.commands.length === 0 || of.registeredArguments.length > 0 ? [names.join(' ')] : []
  return [...own, ...inner]
}

it('tries every route, tool and command that changes the state', async () => {
  const routes = ROUTES.filter((one) => actionOf(one) === 'write').map(({ operationId }) => operationId)
  const reads = new Set<string>(
    TOOLS.map(({ name }) => name).filter((name) => /^(explain|get|svc)_/.test(name)),
  )
  const tools = TOOLS.map(({ name }) => name).filter((name) => !reads.has(name))
  const words = Object.values(COMMANDS).flatMap((group) => group.map(([name]) => name))
  const program = await buildProgram(
    words,
    VERSION,
    () => () => Promise.resolve(),
    () => undefined,
  )
  const commands = leavesOf(program).filter((name) => !READING.has(name) && name !== 'help')
  const tried = [BY_ROUTE, BY_TOOL, BY_COMMAND, LIVE].flatMap((acts) => Object.keys(acts))
  expect([...tried, ...Object.keys(ELSEWHERE)].sort()).toEqual([...routes, ...tools, ...commands].sort())
})

it('finds nothing different in what users did through them', async () => {
  for (const acts of [BY_ROUTE, BY_TOOL, BY_COMMAND]) await tryAll(acts)
  await startLive()
  await tryAll(LIVE)
  const { signatures } = await import('../adapters/platform/signatures/signatures.ts')
  const report = await auditDecisions(log, {
    trust: { signatures, own: null, firstHash: null },
    configuration: configurationNow(),
    version: VERSION,
    from: null,
    to: null,
    onProgress: () => undefined,
  })
  expect(report.findings).toEqual([])
  expect(report).toMatchObject({ ok: true, different: 0, not_rerun: {} })
  const kinds = new Set(report.kinds.map(({ kind }) => kind))
  for (const kind of [
    'kill switch',
    'order',
    'fill',
    'exit',
    'share of profit',
    'position',
    'signal accepted',
    'brain cycle',
    'learning run',
  ])
    expect(kinds).toContain(kind)
})

/**
 * Origin of every kind of command. `surface`: a user's request, tried here. `inside`: the engine makes it from its state,
 * the clock, or what a feed, a producer or a venue has reported, which holds no secret of this node. A new kind does
 * not compile without an entry.
 */
const ORIGINS: Readonly<Record<EngineCommand['kind'], 'surface' | 'inside'>> = {
  'accept-restore': 'surface',
  'accrue-shares': 'inside',
  'acknowledge-alerts': 'surface',
  'admit-key': 'surface',
  'append-trace': 'surface',
  'apply-funding': 'inside',
  'approve-intent': 'surface',
  'assess-risk': 'inside',
  'cancel-entries': 'inside',
  'cancel-order': 'surface',
  'check-positions': 'inside',
  'close-all': 'surface',
  'close-position': 'surface',
  'close-session': 'surface',
  'compare-account': 'surface',
  'confirm-live': 'surface',
  'create-access-key': 'surface',
  'deny-intent': 'surface',
  'emit-signal': 'surface',
  'end-overdue-exits': 'inside',
  escalate: 'inside',
  'execute-intent': 'inside',
  'exit-symbol': 'inside',
  'expire-intents': 'inside',
  'fill-resting': 'inside',
  'keep-protective-stops': 'inside',
  'mark-order-unknown': 'inside',
  'mark-orders-unknown': 'inside',
  'migrate-wallet': 'surface',
  'notice-stale-producers': 'inside',
  'observe-bars': 'surface',
  'observe-tick': 'inside',
  'open-session': 'surface',
  'propose-trade': 'surface',
  'protect-position': 'inside',
  'record-access': 'surface',
  'record-capital': 'inside',
  'record-checkpoint': 'inside',
  'record-clock-jump': 'inside',
  'record-config-change': 'surface',
  'record-feedback': 'surface',
  'record-funding': 'inside',
  'record-leader': 'inside',
  'record-lookup-unsupported': 'inside',
  'record-not-found': 'inside',
  'record-not-sent': 'inside',
  'record-outcome': 'inside',
  'record-rejection': 'inside',
  'record-report': 'surface',
  'record-unclear-lookup': 'inside',
  'record-unsent': 'inside',
  'record-venue-check': 'surface',
  'record-venue-quotes': 'surface',
  'register-contributor': 'surface',
  'register-producer': 'surface',
  'remove-contributor': 'surface',
  'remove-producer': 'surface',
  'reset-kill-switch': 'surface',
  'resume-live': 'surface',
  'retire-key': 'surface',
  'retry-exits': 'inside',
  'revoke-access-key': 'surface',
  'rotate-key': 'surface',
  'run-cycle': 'surface',
  'run-learning': 'surface',
  'run-producer': 'inside',
  'set-kill-switch': 'surface',
  'settle-bar': 'inside',
  'settle-due-shares': 'inside',
  'settle-overdue': 'inside',
  'settle-position': 'inside',
  'settle-shares': 'surface',
  start: 'surface',
  'submit-signal': 'surface',
  'watch-bar': 'inside',
  'watch-quote': 'inside',
  'watch-regime': 'inside',
  'welcome-node': 'surface',
}

it('stores no secret with any command', async () => {
  const records = await log.read({ order: 'asc', limit: 100_000 })
  const secrets = [TOKEN, OPERATOR_TOKEN, MASTER_PASSWORD, ...keySecrets]
  expect(keySecrets).toHaveLength(2)
  const kinds = new Set<string>()
  let events: Stamped[] = []
  for (const record of records) {
    events.push(stampedFrom(record))
    if (record.commands === null) continue
    for (const secret of secrets) expect(record.commands).not.toContain(secret)
    const stored = parseCommands(record.commands, events)
    events = []
    for (const { command, alongside } of stored?.requests ?? [])
      for (const one of [command, alongside]) {
        if (one === null) continue
        kinds.add(one.kind)
        for (const text of textsIn(one)) expect(redactText(text, secrets), one.kind).toBe(text)
      }
  }
  const fromSurfaces = Object.entries(ORIGINS).flatMap(([kind, origin]) =>
    origin === 'surface' ? [kind] : [],
  )
  expect([...kinds].sort()).toEqual(fromSurfaces.sort())
})

const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
