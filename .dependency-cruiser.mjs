/**
 * Who may import whom. Every rule has a case in test/architecture/import-rules.cases.ts that makes it fail.
 *
 *   surfaces ──► engine ──► ports ◄── adapters         main.ts, cli.ts and compose see all
 *       │           │         │           │
 *       └───────────┴──► core ◄───────────┘
 */

/** Tests and contract suites stand next to the code, are not built, and may reach for what they test with. */
const TESTS = '\\.(test|contract|fixture)\\.ts$'

/** What all contexts of core share. */
const SHARED = '^src/core/(log|events|signal-types|config|shared)/'

/** A context may import the ones named here, itself and what all share: a graph without cycles. */
const CONTEXTS = {
  market: [],
  signals: ['market'],
  trading: ['market', 'signals'],
  reputation: ['market', 'signals', 'trading'],
  brain: ['market', 'signals', 'trading', 'reputation'],
  treasury: ['trading', 'brain'],
  strategies: ['market', 'signals', 'trading'],
  operations: [],
}

const npm = (...names) => `node_modules/(${names.join('|')})/`

/** A development package here, and an optional one for users: a peer dependency. */
const OPTIONAL = npm('ccxt')

export default {
  forbidden: [
    {
      name: 'core-imports-no-node',
      comment:
        'core does nothing: no file, no socket, no clock, no chance. What it needs comes in with the command.',
      severity: 'error',
      from: { path: '^src/core/', pathNot: TESTS },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'core-packages',
      comment: 'core knows schemas (zod) and persistent collections (immutable), and no other package.',
      severity: 'error',
      from: { path: '^src/core/', pathNot: TESTS },
      to: { path: 'node_modules/', pathNot: npm('zod', 'immutable') },
    },
    {
      name: 'core-stands-alone',
      comment: 'core knows nothing of the shell around it.',
      severity: 'error',
      from: { path: '^src/core/', pathNot: TESTS },
      to: { path: '^src/', pathNot: '^src/core/' },
    },
    ...Object.entries(CONTEXTS).map(([context, others]) => ({
      name: `context-${context}`,
      comment: `core/${context} imports itself, what all contexts share${others.length > 0 ? `, and ${others.join(', ')}` : ''}.`,
      severity: 'error',
      from: { path: `^src/core/${context}/`, pathNot: TESTS },
      to: { path: '^src/core/', pathNot: [`^src/core/(${[context, ...others].join('|')})/`, SHARED] },
    })),
    {
      name: 'shared-knows-no-context',
      comment:
        'core/log, events, signal-types, config and shared are below the contexts and know none of them.',
      severity: 'error',
      from: { path: SHARED, pathNot: TESTS },
      to: { path: '^src/core/', pathNot: SHARED },
    },
    {
      name: 'ports-import-only-core',
      comment: 'A port is types in the words of core: no package, no Node, nothing of how the world answers.',
      severity: 'error',
      from: { path: '^src/ports/', pathNot: TESTS },
      to: { pathNot: ['^src/core/', '^src/ports/'] },
    },
    {
      name: 'engine-imports',
      comment:
        'The loop knows core and ports. Which adapter answers and which surface asks is decided in main.ts.',
      severity: 'error',
      from: { path: '^src/engine/', pathNot: TESTS },
      to: { path: '^src/', pathNot: ['^src/core/', '^src/ports/', '^src/engine/'] },
    },
    {
      name: 'backtest-imports',
      comment: 'A backtest is the same core and loop, driven by recorded time.',
      severity: 'error',
      from: { path: '^src/backtest/', pathNot: TESTS },
      to: { path: '^src/', pathNot: ['^src/core/', '^src/ports/', '^src/engine/', '^src/backtest/'] },
    },
    {
      name: 'adapters-know-no-sibling',
      comment:
        'An adapter imports core, ports and its own folder: each one can be deleted without a trace. What adapters ' +
        'of all kinds share stands directly in src/adapters.',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)/([^/]+)/', pathNot: [TESTS, '^src/adapters/platform/'] },
      to: {
        path: '^src/',
        pathNot: ['^src/core/', '^src/ports/', '^src/adapters/$1/$2/', '^src/adapters/[^/]+\\.ts$'],
      },
    },
    {
      name: 'shared-adapter-code-knows-no-adapter',
      comment: 'What adapters share is below them.',
      severity: 'error',
      from: { path: '^src/adapters/[^/]+\\.ts$', pathNot: TESTS },
      to: { path: '^src/', pathNot: ['^src/(core|ports)/', '^src/adapters/[^/]+\\.ts$'] },
    },
    {
      name: 'platform-adapters-know-no-sibling',
      comment: 'As above, with one toolbox that identity, vault and the like share: platform/crypto.',
      severity: 'error',
      from: { path: '^src/adapters/platform/([^/]+)/', pathNot: TESTS },
      to: {
        path: '^src/',
        pathNot: [
          '^src/core/',
          '^src/ports/',
          '^src/adapters/platform/$1/',
          '^src/adapters/platform/crypto/',
          '^src/adapters/[^/]+\\.ts$',
        ],
      },
    },
    {
      name: 'adapter-lists-know-their-kind',
      comment: 'adapters/<kind>/all.ts lists the adapters of its kind and no other.',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)/[^/]+\\.ts$', pathNot: TESTS },
      to: { path: '^src/', pathNot: ['^src/core/', '^src/ports/', '^src/adapters/$1/'] },
    },
    {
      name: 'surfaces-know-no-sibling',
      comment:
        'A surface translates between clients and the engine. It knows no adapter and no other surface; what ' +
        'surfaces share stands directly in src/surfaces.',
      severity: 'error',
      from: { path: '^src/surfaces/([^/]+)/', pathNot: TESTS },
      to: {
        path: '^src/',
        pathNot: ['^src/(core|ports|engine|backtest)/', '^src/surfaces/$1/', '^src/surfaces/[^/]+\\.ts$'],
      },
    },
    {
      name: 'shared-surface-code-knows-no-surface',
      comment: 'What surfaces share is below them.',
      severity: 'error',
      from: { path: '^src/surfaces/[^/]+\\.ts$', pathNot: TESTS },
      to: { path: '^src/', pathNot: ['^src/(core|ports|engine|backtest)/', '^src/surfaces/[^/]+\\.ts$'] },
    },
    {
      name: 'web-framework-at-the-web',
      comment: 'The web framework is named in surfaces/http and surfaces/dashboard only.',
      severity: 'error',
      from: { path: '^src/', pathNot: [TESTS, '^src/surfaces/(http|dashboard)/'] },
      to: { path: npm('fastify[^/]*', '@fastify/[^/]+') },
    },
    {
      name: 'sqlite-in-its-adapter',
      comment: 'Each database driver is named in its adapter only.',
      severity: 'error',
      from: { path: '^src/', pathNot: [TESTS, '^src/adapters/storage/sqlite/'] },
      to: { path: npm('@photostructure/sqlite') },
    },
    {
      name: 'postgres-in-its-adapter',
      comment: 'Each database driver is named in its adapter only.',
      severity: 'error',
      from: { path: '^src/', pathNot: [TESTS, '^src/adapters/storage/postgres/'] },
      to: { path: npm('pg', 'pg-[^/]+') },
    },
    {
      name: 'ccxt-in-its-adapters',
      comment: 'Exchanges are spoken to behind our own ports only.',
      severity: 'error',
      from: { path: '^src/', pathNot: [TESTS, '^src/adapters/((feeds|brokers)/ccxt/|ccxt\\.ts$)'] },
      to: { path: npm('ccxt') },
    },
    {
      name: 'parquet-in-its-adapter',
      comment: 'How bars and tables are written to files is known in one folder only.',
      severity: 'error',
      from: { path: '^src/', pathNot: [TESTS, '^src/adapters/history/bar-files/'] },
      to: { path: npm('hyparquet', 'hyparquet-[^/]+') },
    },
    {
      name: 'commander-in-the-command-line',
      comment: 'Only the command line parses a command line.',
      severity: 'error',
      from: { path: '^src/', pathNot: [TESTS, '^src/surfaces/cli/', '^src/cli\\.ts$'] },
      to: { path: npm('commander') },
    },
    {
      name: 'entries-are-not-imported',
      comment: 'main.ts and cli.ts are where programs begin; what both need stands in a file of its own.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/(main|cli)\\.ts$' },
    },
    {
      name: 'no-cycles',
      comment: 'Two modules that need each other are one module, or are missing a third.',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment:
        'What no program reaches is deleted. Threads and processes are started by name, not by import.',
      severity: 'error',
      from: { path: '^src/((main|cli)\\.ts$|.*-(thread|process)\\.ts$)' },
      to: {
        path: '^src/',
        pathNot: [TESTS, '^src/((main|cli)\\.ts$|.*-(thread|process)\\.ts$)'],
        reachable: false,
      },
    },
    {
      name: 'src-stays-in-src',
      comment: 'The service does not depend on what tests, measures or builds it.',
      severity: 'error',
      from: { path: '^src/', pathNot: TESTS },
      to: {
        path: ['^(?!src/|.*node_modules/|package\\.json$)', TESTS],
        dependencyTypesNot: ['core'],
        couldNotResolve: false,
      },
    },
    {
      name: 'no-development-packages',
      comment: 'Operators install without development packages.',
      severity: 'error',
      from: { path: '^src/', pathNot: TESTS },
      to: { pathNot: OPTIONAL, dependencyTypes: ['npm-dev'] },
    },
    {
      name: 'packages-are-declared',
      comment: 'A package that only another one brings along may be gone tomorrow.',
      severity: 'error',
      from: { path: '^src/' },
      to: { pathNot: OPTIONAL, dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'imports-resolve',
      comment: 'An import that the rules cannot follow is an import they cannot judge.',
      severity: 'error',
      from: { path: '^src/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    parser: 'swc',
    // Knowing another module's types is knowing that module.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}
