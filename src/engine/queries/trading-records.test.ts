import { expect, it } from 'vitest'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import type { Refusal } from '../../core/shared/decision.ts'
import { knownRefusal, withLogChecked } from './trading-records.ts'

const log = new MemoryLog()
const refusal = (code: Refusal['code'], extras: Refusal['extras']): Refusal => ({
  code,
  detail: 'no',
  extras,
})

it('leaves refusals as they are that are not about an unknown record, or whose record is nowhere', async () => {
  for (const given of [
    refusal('kill_switch.active', { level: 2 }),
    refusal('position.not_found', { position_id: 'nobody' }),
    refusal('order.not_found', { order_id: 'nobody' }),
    refusal('intent.not_found', { intent_id: 'nobody' }),
    refusal('intent.not_found', {}),
  ]) {
    expect(await knownRefusal(log, given)).toBe(given)
    expect(await withLogChecked(log, { status: 'refused', refusal: given })).toEqual({
      status: 'refused',
      refusal: given,
    })
  }
})
