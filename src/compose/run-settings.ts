import type { Configuration } from '../core/config/schema.ts'

/**
 * The settings that decide how a run ends, as they are handed to other processes and machines. Tokens, addresses and the
 * store stay where they are: each process has its own.
 */
export type RunSettings = Omit<Configuration, (typeof OWN)[number]>

const OWN = [
  'api',
  'audit',
  'backtests',
  'dashboard',
  'identity',
  'logging',
  'metrics',
  'store',
  'stream',
  'trace',
] as const

export const runSettingsOf = (configuration: Configuration): RunSettings =>
  Object.fromEntries(
    Object.entries(configuration).filter(([section]) => !OWN.some((own) => own === section)),
  ) as unknown as RunSettings
