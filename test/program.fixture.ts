import { join } from 'node:path'
import { inject } from 'vitest'

/** A program of this folder, such as `exchange-server/exchange-process`, ready for `node`. */
export const programOf = (name: string): string =>
  join(inject('programs'), `test-${name.replaceAll('/', '-')}.js`)
