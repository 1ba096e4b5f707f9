import { describe, expect, it } from 'vitest'
import * as money from '../src/core/shared/money.ts'
import { quickImports } from './quick-imports.ts'

const transform = quickImports().transform as (
  code: string,
  id: string,
) => { readonly code: string } | undefined

describe('what a module exports', () => {
  it('is a plain value, also in tests', () => {
    for (const name of Object.keys(money))
      expect(Object.getOwnPropertyDescriptor(money, name)).toHaveProperty('value')
    expect(money.notionalOf).toBeTypeOf('function')
  })

  it.each(['export let x = 1', 'const y = 1\nexport var x = y'])('never changes: %j is refused', (code) => {
    expect(() => transform(code, '/src/some.ts')).toThrow('/src/some.ts exports a variable')
  })

  it('is left as it is in packages', () => {
    expect(transform('export let x = 1', '/node_modules/some/index.ts')).toBeUndefined()
    expect(transform('export let x = 1', '/src/some.js')).toBeUndefined()
  })
})
