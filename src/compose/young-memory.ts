import { setFlagsFromString } from 'node:v8'

/**
 * V8 guesses early which objects of a process live long, and makes their like in old memory from then on. What a request
 * makes lives as long as the request, so a wrong guess is a lasting one: whatever is read stays until the next full
 * collection, and the small ones in between take four times as long. Without guesses everything begins as young.
 */
export const beginEverythingYoung = (): void => setFlagsFromString('--no-allocation-site-pretenuring')
