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
  LIVE,
  log,
  openSurfaces,
  startLive,
  tryAll,
} from './audited-surfaces.fixture.ts'
import { buildProgram, COMMANDS } from './cli/program.ts'
import { actionOf } from './http/route.ts'
import { ROUTES } from './http/routes/all.ts'
import { VERSION } from './http/test-server.fixture.ts'

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
