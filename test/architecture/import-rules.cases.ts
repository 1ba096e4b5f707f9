/**
 * File name to the modules it imports. A name that ends in `.ts` is a file of the tree; a prefix names the form of the
 * import: `type`, or `using` for a dynamic one.
 */
export type Tree = Readonly<Record<string, readonly string[]>>

export interface Case {
  /** The one rule that the tree breaks. */
  readonly rule: string
  readonly why: string
  /** Files added to the clean tree. */
  readonly tree: Tree
  /** Whether main.ts imports the added files, so that they break no other rule. */
  readonly isReached?: boolean
}

export const CASES: readonly Case[] = [
  {
    rule: 'core-imports-no-node',
    why: 'a context that reads a file',
    tree: { 'src/core/signals/read.ts': ['node:fs'] },
  },
  {
    rule: 'core-imports-no-node',
    why: 'a builtin without its prefix',
    tree: { 'src/core/signals/read.ts': ['crypto'] },
  },
  { rule: 'core-packages', why: 'a logger in core', tree: { 'src/core/signals/log-line.ts': ['pino'] } },
  {
    rule: 'core-stands-alone',
    why: 'a view that asks a port',
    tree: { 'src/core/views/ask.ts': ['src/ports/clock.ts'] },
  },
  {
    rule: 'context-market',
    why: 'the market in a context above it',
    tree: { 'src/core/market/bias.ts': ['src/core/signals/signals.ts'] },
  },
  {
    rule: 'context-signals',
    why: 'signals that know positions',
    tree: { 'src/core/signals/score.ts': ['src/core/trading/positions/positions.ts'] },
  },
  {
    rule: 'context-signals',
    why: 'a context that reads the whole state',
    tree: { 'src/core/signals/score.ts': ['src/core/state.ts'] },
  },
  {
    rule: 'context-signals',
    why: 'a context that reads a view',
    tree: { 'src/core/signals/score.ts': ['src/core/views/status.ts'] },
  },
  {
    rule: 'context-signals',
    why: 'a context that reads the whole state as a type only',
    tree: { 'src/core/signals/score.ts': ['type src/core/state.ts'] },
  },
  {
    rule: 'context-trading',
    why: 'trading that knows scores of authors',
    tree: { 'src/core/trading/size.ts': ['src/core/reputation/calls.ts'] },
  },
  {
    rule: 'context-reputation',
    why: 'scores that know the brain',
    tree: { 'src/core/reputation/score.ts': ['src/core/brain/cycle.ts'] },
  },
  {
    rule: 'context-brain',
    why: 'a brain that knows money to be shared',
    tree: { 'src/core/brain/weigh.ts': ['src/core/treasury/shares.ts'] },
  },
  {
    rule: 'context-treasury',
    why: 'a treasury that reads signals',
    tree: { 'src/core/treasury/pay.ts': ['src/core/signals/signals.ts'] },
  },
  {
    rule: 'context-strategies',
    why: 'a strategy that reads scores of authors',
    tree: { 'src/core/strategies/rule.ts': ['src/core/reputation/calls.ts'] },
  },
  {
    rule: 'context-operations',
    why: 'operations in another context',
    tree: { 'src/core/operations/audit.ts': ['src/core/market/bars.ts'] },
  },
  {
    rule: 'shared-knows-no-context',
    why: 'an event that imports its context',
    tree: { 'src/core/events/calls.ts': ['src/core/reputation/calls.ts'] },
  },
  {
    rule: 'shared-knows-no-context',
    why: 'a shared type that reads the whole state',
    tree: { 'src/core/shared/decision.ts': ['src/core/state.ts'] },
  },
  { rule: 'ports-import-only-core', why: 'a port with a package', tree: { 'src/ports/feed.ts': ['zod'] } },
  { rule: 'ports-import-only-core', why: 'a port with Node', tree: { 'src/ports/feed.ts': ['node:stream'] } },
  {
    rule: 'ports-import-only-core',
    why: 'a port that knows the engine',
    tree: { 'src/ports/feed.ts': ['src/engine/engine.ts'] },
  },
  {
    rule: 'engine-imports',
    why: 'an engine that chooses its adapter',
    tree: { 'src/engine/store.ts': ['src/adapters/storage/memory/memory.ts'] },
  },
  {
    rule: 'backtest-imports',
    why: 'a backtest that knows a surface',
    tree: { 'src/backtest/run.ts': ['src/surfaces/status.ts'] },
  },
  {
    rule: 'adapters-know-no-sibling',
    why: 'an adapter in another of its kind',
    tree: { 'src/adapters/storage/sqlite/sqlite.ts': ['src/adapters/storage/memory/memory.ts'] },
  },
  {
    rule: 'adapters-know-no-sibling',
    why: 'the crypto helpers of the platform in a storage adapter',
    tree: { 'src/adapters/storage/sqlite/sqlite.ts': ['src/adapters/platform/crypto/hash.ts'] },
  },
  {
    rule: 'adapters-know-no-sibling',
    why: 'an adapter that knows the engine',
    tree: { 'src/adapters/feeds/file/file.ts': ['src/engine/engine.ts'] },
  },
  {
    rule: 'platform-adapters-know-no-sibling',
    why: 'the vault in the identity',
    tree: {
      'src/adapters/platform/identity/identity.ts': ['src/adapters/platform/vault/vault.ts'],
      'src/adapters/platform/vault/vault.ts': [],
    },
  },
  {
    rule: 'platform-adapters-know-no-sibling',
    why: 'a platform adapter in the crypto helpers',
    tree: {
      'src/adapters/platform/crypto/key.ts': ['src/adapters/platform/vault/vault.ts'],
      'src/adapters/platform/vault/vault.ts': [],
    },
  },
  {
    rule: 'shared-adapter-code-knows-no-adapter',
    why: 'shared code that knows one user of it',
    tree: { 'src/adapters/threads.ts': ['src/adapters/storage/memory/memory.ts'] },
  },
  {
    rule: 'adapter-lists-know-their-kind',
    why: 'a list that names another kind',
    tree: { 'src/adapters/feeds/all.ts': ['src/adapters/storage/memory/memory.ts'] },
  },
  {
    rule: 'surfaces-know-no-sibling',
    why: 'one surface in another',
    tree: { 'src/surfaces/mcp/endpoint.ts': ['src/surfaces/http/server.ts'] },
  },
  {
    rule: 'surfaces-know-no-sibling',
    why: 'a surface that reads the store',
    tree: { 'src/surfaces/mcp/endpoint.ts': ['src/adapters/storage/memory/memory.ts'] },
  },
  {
    rule: 'shared-surface-code-knows-no-surface',
    why: 'shared code that knows one user of it',
    tree: { 'src/surfaces/problems.ts': ['src/surfaces/http/server.ts'] },
  },
  {
    rule: 'web-framework-at-the-web',
    why: 'the framework in another surface',
    tree: { 'src/surfaces/mcp/endpoint.ts': ['fastify'] },
  },
  {
    rule: 'web-framework-at-the-web',
    why: 'a plugin of the framework in the composition',
    tree: { 'src/plugins.ts': ['@fastify/static'] },
  },
  {
    rule: 'sqlite-in-its-adapter',
    why: 'the driver in another storage',
    tree: { 'src/adapters/storage/memory/fast.ts': ['@photostructure/sqlite'] },
  },
  {
    rule: 'postgres-in-its-adapter',
    why: 'the driver in the engine',
    tree: { 'src/engine/leader.ts': ['pg'] },
  },
  {
    rule: 'ccxt-in-its-adapters',
    why: 'an exchange in the engine',
    tree: { 'src/engine/venue.ts': ['ccxt'] },
  },
  {
    rule: 'parquet-in-its-adapter',
    why: 'files of bars written by the command line',
    tree: { 'src/surfaces/cli/bars.ts': ['hyparquet'] },
  },
  {
    rule: 'commander-in-the-command-line',
    why: 'arguments parsed by the HTTP surface',
    tree: { 'src/surfaces/http/options.ts': ['commander'] },
  },
  {
    rule: 'entries-are-not-imported',
    why: 'a program used as a library',
    tree: { 'src/library.ts': ['src/cli.ts'] },
  },
  {
    rule: 'no-cycles',
    why: 'two files that need each other',
    tree: {
      'src/core/signals/one.ts': ['src/core/signals/two.ts'],
      'src/core/signals/two.ts': ['src/core/signals/one.ts'],
    },
  },
  {
    rule: 'no-cycles',
    why: 'a cycle through three files of the engine, one of them a type',
    tree: {
      'src/engine/one.ts': ['src/engine/two.ts'],
      'src/engine/two.ts': ['type src/engine/three.ts'],
      'src/engine/three.ts': ['src/engine/one.ts'],
    },
  },
  {
    rule: 'src-stays-in-src',
    why: 'the service on a test helper',
    tree: { 'src/engine/given.ts': ['test/given.ts'], 'test/given.ts': [] },
  },
  {
    rule: 'src-stays-in-src',
    why: 'the service on a measurement',
    tree: { 'src/engine/timed.ts': ['bench/timer.ts'], 'bench/timer.ts': [] },
  },
  {
    rule: 'src-stays-in-src',
    why: 'the service on a contract suite',
    tree: { 'src/engine/suite.ts': ['src/ports/clock.contract.ts'], 'src/ports/clock.contract.ts': [] },
  },
  {
    rule: 'src-stays-in-src',
    why: 'the service on a fixture',
    tree: { 'src/engine/world.ts': ['src/engine/engine.fixture.ts'], 'src/engine/engine.fixture.ts': [] },
  },
  {
    rule: 'no-development-packages',
    why: 'a test tool in the service',
    tree: { 'src/engine/property.ts': ['fast-check'] },
  },
  {
    rule: 'packages-are-declared',
    why: 'a package of a package',
    tree: { 'src/engine/rings.ts': ['undeclared'] },
  },
  {
    rule: 'imports-resolve',
    why: 'a module that is not there',
    tree: { 'src/engine/lost.ts': ['src/engine/gone.ts'] },
  },
  {
    rule: 'ports-import-only-core',
    why: 'only a type, from a surface',
    tree: { 'src/ports/feed.ts': ['type src/surfaces/http/server.ts'] },
  },
  {
    rule: 'ports-import-only-core',
    why: 'only in a dynamic import, from a surface',
    tree: { 'src/ports/feed.ts': ['using src/surfaces/http/server.ts'] },
  },
  {
    rule: 'no-orphans',
    why: 'a module that no program reaches',
    tree: { 'src/engine/forgotten.ts': ['zod'] },
    isReached: false,
  },
  {
    rule: 'no-orphans',
    why: 'a module that only its test reaches',
    tree: { 'src/engine/tested.ts': [], 'src/engine/tested.test.ts': ['src/engine/tested.ts'] },
    isReached: false,
  },
]

/** One file of each kind, all imports allowed. */
export const CLEAN: Tree = {
  'src/core/shared/json.ts': [],
  'src/core/log/event.ts': ['src/core/shared/json.ts'],
  'src/core/events/signal.ts': ['src/core/log/event.ts', 'zod'],
  'src/core/config/schema.ts': ['src/core/shared/json.ts'],
  'src/core/market/bars.ts': ['src/core/events/signal.ts', 'immutable'],
  'src/core/signals/signals.ts': ['src/core/market/bars.ts', 'src/core/config/schema.ts'],
  'src/core/trading/positions/positions.ts': ['src/core/market/bars.ts', 'src/core/signals/signals.ts'],
  'src/core/reputation/calls.ts': ['src/core/signals/signals.ts', 'src/core/trading/positions/positions.ts'],
  'src/core/brain/cycle.ts': ['src/core/reputation/calls.ts', 'src/core/trading/positions/positions.ts'],
  'src/core/treasury/shares.ts': ['src/core/brain/cycle.ts', 'src/core/trading/positions/positions.ts'],
  'src/core/operations/nodes.ts': ['src/core/events/signal.ts'],
  'src/core/state.ts': [
    'src/core/treasury/shares.ts',
    'src/core/operations/nodes.ts',
    'src/core/reputation/calls.ts',
  ],
  'src/core/views/status.ts': ['src/core/state.ts', 'src/core/treasury/shares.ts'],
  'src/ports/clock.ts': ['src/core/log/event.ts'],
  'src/engine/engine.ts': ['src/core/state.ts', 'src/ports/clock.ts', 'node:events'],
  'src/adapters/storage/all.ts': [
    'src/adapters/storage/memory/memory.ts',
    'src/adapters/storage/postgres/postgres.ts',
    'src/adapters/storage/sqlite/store.ts',
  ],
  'src/adapters/storage/memory/memory.ts': ['src/core/log/event.ts', 'src/ports/clock.ts'],
  'src/adapters/storage/postgres/postgres.ts': ['pg'],
  'src/adapters/storage/sqlite/store.ts': ['@photostructure/sqlite', 'src/adapters/storage/sqlite/schema.ts'],
  'src/adapters/storage/sqlite/schema.ts': [],
  'src/adapters/storage/sqlite/write-thread.ts': ['src/adapters/storage/sqlite/thread-only.ts'],
  'src/adapters/storage/sqlite/thread-only.ts': [],
  'src/adapters/platform/crypto/hash.ts': ['node:crypto'],
  'src/adapters/platform/logger/logger.ts': ['pino', 'src/adapters/platform/crypto/hash.ts'],
  'src/surfaces/status.ts': ['src/core/state.ts'],
  'src/surfaces/http/server.ts': ['fastify', 'src/engine/engine.ts', 'src/surfaces/status.ts'],
  'src/surfaces/cli/health.ts': ['commander', 'src/core/views/status.ts'],
  'src/compose.ts': ['src/adapters/storage/all.ts', 'src/adapters/platform/logger/logger.ts'],
  'src/main.ts': ['src/compose.ts', 'src/engine/engine.ts', 'src/surfaces/http/server.ts'],
  'src/cli.ts': ['src/compose.ts', 'src/surfaces/cli/health.ts', 'commander'],
  // Tests may import what the code beside them may not.
  'src/core/reputation/calls.test.ts': [
    'fast-check',
    'node:fs',
    'test/given.ts',
    'src/adapters/storage/memory/memory.ts',
  ],
  'src/ports/clock.contract.ts': ['fast-check', 'src/ports/clock.ts'],
  'test/given.ts': [],
}
