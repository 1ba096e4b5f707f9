import type { CliCommand } from '../command.ts'

/** Every command, in alphabetical order. Each is loaded only when it is used: reading all of them takes longer than most of them. */
export const COMMANDS: Readonly<Record<string, () => Promise<CliCommand>>> = {
  backtest: async () => (await import('./backtest.ts')).backtest,
  brain: async () => (await import('./brain.ts')).brain,
  config: async () => (await import('./config.ts')).config,
  contributors: async () => (await import('./contributors.ts')).contributors,
  export: async () => (await import('./export.ts')).exportCommand,
  health: async () => (await import('./health.ts')).health,
  identity: async () => (await import('./identity.ts')).identity,
  init: async () => (await import('./init.ts')).init,
  integrity: async () => (await import('./integrity.ts')).integrity,
  intents: async () => (await import('./intents.ts')).intents,
  karma: async () => (await import('./karma.ts')).karma,
  'kill-switch': async () => (await import('./kill-switch.ts')).killSwitch,
  learn: async () => (await import('./learn.ts')).learn,
  live: async () => (await import('./live.ts')).live,
  mcp: async () => (await import('./mcp.ts')).mcp,
  orders: async () => (await import('./orders.ts')).orders,
  portfolio: async () => (await import('./portfolio.ts')).portfolio,
  positions: async () => (await import('./positions.ts')).positions,
  producers: async () => (await import('./producers.ts')).producers,
  replay: async () => (await import('./replay.ts')).replay,
  serve: async () => (await import('./serve.ts')).serve,
  signal: async () => (await import('./signal.ts')).signal,
  up: async () => (await import('./up.ts')).up,
  vault: async () => (await import('./vault.ts')).vault,
}
