import { describe, expect, it } from 'vitest'
import { given, stateAfter } from '../../../test/given.fixture.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { orderId } from '../shared/brand.ts'
import { OPEN_ALERTS_MAX } from './alerts.ts'

const failed = (
  id: string,
  order: string,
  repeat = 0,
  cause: 'exit_failed' | 'stop_not_resting' = 'exit_failed',
): NewEvent => ({
  type: 'alert.execution',
  source: 'alerts',
  id,
  payload: {
    urgency: 'immediate',
    message: 'An exit of ETH did not succeed',
    cause,
    symbol: 'ETH',
    order_id: orderId(order),
    position_id: null,
    repeat,
  },
})
const shift: NewEvent = {
  type: 'alert.regime_shift',
  source: 'alerts',
  id: 'shift',
  payload: { urgency: 'standard', message: 'm', regime: 'BULL', previous: 'BEAR', repeat: 0 },
}
const acknowledge = (...alertIds: readonly string[]) =>
  ({ kind: 'acknowledge-alerts', acknowledgement: { alertIds, operator: 'svc-1', surface: 'api' } }) as const
const openIn = (...happened: readonly NewEvent[]): readonly string[] =>
  [...stateAfter(happened).operations.alerts.keys()].sort()

describe('open alerts', () => {
  it('are those that somebody has to see', () => {
    expect(openIn(failed('a', 'o1'), shift, failed('b', 'o2'))).toEqual(['a', 'b'])
  })

  it('stand once for a cause that goes on', () => {
    expect(openIn(failed('a', 'o1'), failed('b', 'o2'), failed('c', 'o1', 1), failed('d', 'o1', 2))).toEqual([
      'b',
      'd',
    ])
  })

  it('stand beside each other for different causes', () => {
    expect(openIn(failed('a', 'o1', 0, 'stop_not_resting'), failed('b', 'o1'), failed('c', 'o1', 1))).toEqual(
      ['a', 'c'],
    )
  })

  it('tell of a clock that jumped', () => {
    const jump: NewEvent = {
      type: 'alert.clock_jump',
      source: 'alerts',
      id: 'jump',
      payload: { urgency: 'immediate', message: 'm', cause: 'wall_clock', jump_seconds: 3600, repeat: 0 },
    }
    expect(openIn(jump)).toEqual(['jump'])
  })

  it('are bounded: the oldest goes', () => {
    const many = Array.from({ length: OPEN_ALERTS_MAX + 1 }, (_, index) => failed(`a${index}`, `o${index}`))
    const open = openIn(...many)
    expect([open.length, open.includes('a0'), open.includes(`a${OPEN_ALERTS_MAX}`)]).toEqual([
      OPEN_ALERTS_MAX,
      false,
      true,
    ])
  })
})

describe('an acknowledgement', () => {
  it('ends what is open, once, and says nothing of the rest', () => {
    const state = given(failed('a', 'o1'), failed('b', 'o2'))
      .when(acknowledge('a', 'a', 'unknown'))
      .then({
        type: 'system.alerts_acknowledged.v1',
        payload: { alert_ids: ['a'], acknowledged_by: 'svc-1' },
      })
    expect([...state.operations.alerts.keys()]).toEqual(['b'])
  })

  it('of nothing that is open is not recorded', () => {
    given(failed('a', 'o1')).when(acknowledge('unknown')).thenNothing()
  })
})
