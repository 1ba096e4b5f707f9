import { z } from 'zod'

/** 0 normal, 1 caution, 2 crisis (exits only), 3 lockdown (nothing without an operator). */
export const killSwitchLevel = z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)])

export type KillSwitchLevel = z.infer<typeof killSwitchLevel>

export const LEVEL_STATES = ['normal', 'caution', 'crisis', 'lockdown'] as const
