import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inject } from 'vitest'

/** A program of this folder, such as `exchange-server/exchange-process`, ready for `node`. */
export const programOf = (name: string): string =>
  join(inject('programs'), `test-${name.replaceAll('/', '-')}.js`)

/** The address of a module, such as `src/engine/sha256`, for code that a test gives to `node`. */
export const moduleOf = (name: string): string =>
  pathToFileURL(join(inject('programs'), 'modules', `${name}.js`)).href
