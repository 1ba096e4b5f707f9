import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { DEFAULT_CONFIGURATION } from '../../src/core/config/validate.ts'

describe('config/default.yaml', () => {
  it('holds every default, and nothing that is no setting', () => {
    expect(parse(readFileSync('config/default.yaml', 'utf8'))).toStrictEqual(DEFAULT_CONFIGURATION)
  })
})
