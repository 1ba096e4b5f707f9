import { z } from 'zod'

export const KILL_SWITCH = {
  normal: 0,
  /** Only raises warnings. */
  caution: 1,
  /** Blocks entries. Exits are still made. */
  crisis: 2,
  /** Blocks everything that no operator orders. */
  lockdown: 3,
} as const

export type KillSwitchLevel = (typeof KILL_SWITCH)[keyof typeof KILL_SWITCH]

export const killSwitchLevel = z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)])

/** The names of the levels, from 0 to 3. */
export const LEVEL_STATES = ['normal', 'caution', 'crisis', 'lockdown'] as const

export const blocksEntries = (level: KillSwitchLevel): boolean => level >= KILL_SWITCH.crisis

/** Whether the level blocks exits, except those that an operator orders. */
export const blocksExits = (level: KillSwitchLevel): boolean => level === KILL_SWITCH.lockdown
