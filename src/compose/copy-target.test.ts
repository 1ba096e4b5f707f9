import { expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import { UsageError } from '../surfaces/cli/failure.ts'
import { openCopyTarget } from './copy-target.ts'
import { environmentOf } from './environment.ts'

it.each([
  'postgres://u:opensesame@[bad/db',
  'postgres://u:opensesame@127.0.0.1:99999/db',
  'POSTGRES://u:opensesame@127.0.0.1/db',
  'mysql://u:opensesame@127.0.0.1/db',
])('refuses an address that is none of a store, and does not repeat its password: %s', async (into) => {
  const opened = openCopyTarget(environmentOf('/nowhere', {}, 'test'), DEFAULT_CONFIGURATION, into)
  await expect(opened).rejects.toThrow(UsageError)
  await expect(opened).rejects.not.toThrow('opensesame')
})
