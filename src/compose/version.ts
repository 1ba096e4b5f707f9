import { readFileSync } from 'node:fs'

/** The release this code belongs to: one place says it. */
export const VERSION = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string
  }
).version
