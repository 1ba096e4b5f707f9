import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { type Document, isMap, isScalar, isSeq, type Pair, parseDocument } from 'yaml'
import { CONFIGURATION_KEYS } from '../../../core/config/keys.ts'
import { DEFAULT_CONFIGURATION } from '../../../core/config/validate.ts'
import type { KeyPath } from '../../../core/config/values.ts'

const text = await readFile(new URL('../../../../config/default.yaml', import.meta.url), 'utf8')
const document = parseDocument(text)

describe('config/default.yaml', () => {
  it('states every key with its default and nothing else', () => {
    expect(document.errors).toStrictEqual([])
    expect(document.toJS()).toStrictEqual(DEFAULT_CONFIGURATION)
  })

  it('stands in the order of the schema', () => {
    expect(JSON.stringify(document.toJS())).toBe(JSON.stringify(DEFAULT_CONFIGURATION))
  })

  it.each(CONFIGURATION_KEYS)('describes $path', ({ path, description }) => {
    expect(commentOf(document, path)).toBe(description)
  })

  it('fits on a screen', () => {
    expect(text.split('\n').filter((line) => line.length > 110)).toStrictEqual([])
  })
})

/** Behind the value; of a map, above its name. */
const commentOf = (file: Document, path: KeyPath): string | undefined => {
  const parent = file.getIn(path.slice(0, -1))
  const group = path.length === 1 ? file.contents : parent
  const pair = isMap(group)
    ? group.items.find(({ key }) => isScalar(key) && key.value === path.at(-1))
    : undefined
  return pair === undefined ? undefined : (commentBehind(pair) ?? commentAbove(pair))?.trim()
}

const commentBehind = ({ value }: Pair): string | null | undefined =>
  isScalar(value) || isSeq(value) ? value.comment : undefined

const commentAbove = ({ key }: Pair): string | null | undefined =>
  isScalar(key) ? key.commentBefore : undefined
