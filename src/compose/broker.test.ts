import { expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import { createManualTimer } from '../ports/manual-timer.fixture.ts'
import { openBroker } from './broker.ts'
import { environmentOf } from './environment.ts'

const open = (venue: string): ReturnType<typeof openBroker> => {
  const timer = createManualTimer(Date.parse('2026-02-20T00:30:00.000Z'))
  return openBroker(
    environmentOf('', {}, 'test'),
    { ...DEFAULT_CONFIGURATION, execution: { ...DEFAULT_CONFIGURATION.execution, mode: 'live', venue } },
    timer,
  )
}

it('a venue that gets no orders is refused as such, and its keys are not asked for', async () => {
  expect(await open('kraken')).toEqual({
    status: 'refused',
    check: 'venue',
    reason: expect.stringMatching(/^execution.venue: kraken is not supported for live trading/),
  })
})

it('a supported venue needs its keys', async () => {
  expect(await open('bybit-sandbox')).toEqual({
    status: 'refused',
    check: 'keys',
    reason: expect.stringMatching(/^secret broker.bybit-sandbox.api_key not found/),
  })
})
