import { DatabaseError } from 'pg'
import { expect, it } from 'vitest'
import { StoreUnavailableError } from '../../../ports/event-log.ts'
import { asStoreError, isRefusedStatement } from './errors.ts'

const answer = (severity: string | undefined, code: string): DatabaseError =>
  Object.assign(new DatabaseError('as the server words it', 1, 'error'), { severity, code })

it.each(['ERROR', 'FEHLER', 'ERREUR', 'ОШИБКА'])('takes %s for a refusal of the statement', (severity) => {
  // If two processes append at once, the second is refused with this code. It must not look like a lost connection.
  expect(isRefusedStatement(answer(severity, '23505'))).toBe(true)
  expect(asStoreError(answer(severity, '42501'))).not.toBeInstanceOf(StoreUnavailableError)
  expect(asStoreError(answer(severity, '40P01'))).toBeInstanceOf(StoreUnavailableError)
  expect(asStoreError(answer(severity, '25006'))).toBeInstanceOf(StoreUnavailableError)
})

it.each([
  ['FATAL', '57P01'],
  ['FATAL', '23505'],
  ['PANIC', 'XX000'],
  ['SCHWERWIEGEND', '57P01'],
  ['FATAL', ''],
  [undefined, '23505'],
])('does not take %s %s for one: what was stored has to be looked up', (severity, code) => {
  expect(isRefusedStatement(answer(severity, code))).toBe(false)
  expect(asStoreError(answer(severity, code))).toBeInstanceOf(StoreUnavailableError)
})
