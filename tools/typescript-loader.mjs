/**
 * `node --import ./tools/typescript-loader.mjs`: lets Node run TypeScript, in the process and in every thread it begins.
 * `--import tsx` alone leaves out the threads on Node 20 (privatenumber/tsx#354).
 */
import { register } from 'tsx/esm/api'

register()
