import process from 'node:process'

import { beforeAll, inject } from 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Set by StrykerJS. */
    readonly mode: 'dry-run' | 'mutant'
    /** Set by StrykerJS: the number of the mutant. */
    readonly activeMutant?: string
  }
}

const activeMutant = inject('activeMutant')

// Threads and processes that a test starts have the mutant, too.
if (inject('mode') === 'mutant' && activeMutant !== undefined) {
  beforeAll(() => {
    process.env['__STRYKER_ACTIVE_MUTANT__'] = activeMutant
  })
}
