import fc from 'fast-check'
import { expect, it } from 'vitest'
import { recordsAfter } from '../../../test/records.fixture.ts'
import { EMPTY_HEAD } from '../log/event.ts'
import { canonicalJson } from '../log/canonical-json.ts'
import type { JsonObject } from '../shared/json.ts'
import { signalItemText, viewSignalItem } from './signals.ts'

const [record] = recordsAfter(EMPTY_HEAD, 1)
if (record === undefined) throw new Error('no record')

it('is the same as spliced text', () => {
  const text = fc.option(fc.string({ unit: 'binary' }), { nil: null })
  const object = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ stringUnit: 'grapheme' }))
  fc.assert(
    fc.property(text, object, (source, payload) => {
      const stored = { ...record, source, payload: canonicalJson(payload as JsonObject) }
      expect(JSON.parse(signalItemText(stored))).toEqual(JSON.parse(JSON.stringify(viewSignalItem(stored))))
    }),
  )
})
