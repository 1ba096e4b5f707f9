import type { Engine } from '../engine.ts'

/** What a question needs of the engine: the log, and the fold of all of it. */
export type Reader = Pick<Engine, 'log' | 'fresh'>
