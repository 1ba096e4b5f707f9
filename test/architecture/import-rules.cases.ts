/**
 * File name to the modules it imports. A name that ends in `.ts` is one of ours, from the root; before it may stand
 * the form of the import: `type`, or `using` for a dynamic one.
 */
export type Tree = Readonly<Record<string, readonly string[]>>

export interface Case {
  /** The one rule that must be broken. */
  readonly rule: string
  readonly why: string
  /** What stands in the clean tree besides. */
  readonly tree: Tree
  /** Whether main.ts imports it, so that nothing is wrong but what is meant. */
  readonly isReached?: boolean
}

export const CASES: readonly Case[] = [
  {
    rule: 'core-imports-no-node',
    why: 'a room that reads a file',
    tree: { 'src/core/signals/read.ts': ['node:fs'] },
  },
  {
    rule: 'core-imports-no-node',
    why: 'a builtin without its prefix',
    tree: { 'src/core/signals/read.ts': ['crypto'] },
  },
  { rule: 'core-packages', why: 'a logger in core', tree: { 'src/core/signals/talk.ts': ['pino'] } },
  {
    rule: 'core-stands-alone',
    why: 'a view that asks a port',
    tree: { 'src/core/views/ask.ts': ['src/ports/clock.ts'] },
  },
  {
    rule: 'rooms-know-no-room',
    why: 'one room in another',
    tree: { 'src/core/signals/score.ts': ['src/core/karma/karma.ts'] },
  },
  {
    rule: 'rooms-know-no-room',
    why: 'a room that reads all of memory',
    tree: { 'src/core/signals/score.ts': ['src/core/state.ts'] },
  },
  {
    rule: 'rooms-know-no-room',
    why: 'a room that reads a view',
    tree: { 'src/core/signals/score.ts': ['src/core/views/status.ts'] },
  },
  {
    rule: 'shared-words-know-no-room',
    why: 'an event that imports its room',
    tree: { 'src/core/events/karma.ts': ['src/core/karma/karma.ts'] },
  },
  { rule: 'ports-import-only-core', why: 'a port with a package', tree: { 'src/ports/feed.ts': ['zod'] } },
  { rule: 'ports-import-only-core', why: 'a port with Node', tree: { 'src/ports/feed.ts': ['node:stream'] } },
  {
    rule: 'ports-import-only-core',
    why: 'a port that knows the loop',
    tree: { 'src/ports/feed.ts': ['src/engine/engine.ts'] },
  },
  {
    rule: 'engine-imports',
    why: 'a loop that chose its adapter',
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
    why: 'the toolbox of the platform in a storage adapter',
    tree: { 'src/adapters/storage/sqlite/sqlite.ts': ['src/adapters/platform/crypto/hash.ts'] },
  },
  {
    rule: 'adapters-know-no-sibling',
    why: 'an adapter that knows the loop',
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
    why: 'a platform adapter in the toolbox',
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
    why: 'a plugin of the framework where programs are put together',
    tree: { 'src/plugins.ts': ['@fastify/static'] },
  },
  {
    rule: 'sqlite-in-its-adapter',
    why: 'the driver in another storage',
    tree: { 'src/adapters/storage/memory/fast.ts': ['@photostructure/sqlite'] },
  },
  {
    rule: 'postgres-in-its-adapter',
    why: 'the driver in the loop',
    tree: { 'src/engine/leader.ts': ['pg'] },
  },
  {
    rule: 'ccxt-in-its-adapters',
    why: 'an exchange in the loop',
    tree: { 'src/engine/venue.ts': ['ccxt'] },
  },
  {
    rule: 'commander-in-the-command-line',
    why: 'arguments read by the web',
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
    why: 'only later, for a moment, from a surface',
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

/** One of everything, each where it belongs. */
export const CLEAN: Tree = {
  'src/core/vocabulary/json.ts': [],
  'src/core/log/event.ts': ['src/core/vocabulary/json.ts'],
  'src/core/events/brain.ts': ['src/core/log/event.ts', 'zod'],
  'src/core/karma/karma.ts': ['src/core/events/brain.ts', 'immutable'],
  'src/core/state.ts': ['src/core/karma/karma.ts'],
  'src/core/views/status.ts': ['src/core/state.ts', 'src/core/karma/karma.ts'],
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
  // Tests may do what the code beside them may not.
  'src/core/karma/karma.test.ts': [
    'fast-check',
    'node:fs',
    'test/given.ts',
    'src/adapters/storage/memory/memory.ts',
  ],
  'src/ports/clock.contract.ts': ['fast-check', 'src/ports/clock.ts'],
  'test/given.ts': [],
}
