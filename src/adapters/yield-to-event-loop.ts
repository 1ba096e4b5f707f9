import { setImmediate } from 'node:timers/promises'

/** Lets timers and sockets have their turn in the middle of long work. */
export const yieldToEventLoop = (): Promise<void> => setImmediate()
