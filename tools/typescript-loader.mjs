/**
 * `node --import ./tools/typescript-loader.mjs`: lets Node run TypeScript, in the process and in every thread it begins,
 * and as fast as if it were built. What tsx makes of it gives each function its name anew whenever it is created, which
 * is felt where closures are many; and on Node 20 it leaves out the threads (privatenumber/tsx#354).
 */
import { register } from 'node:module'

register('./typescript-hooks.mjs', import.meta.url)
