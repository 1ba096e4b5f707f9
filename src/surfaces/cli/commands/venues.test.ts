import { afterEach, beforeEach, expect, it } from 'vitest'
import { VENUE_IDS } from '../../../core/shared/venues.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
})
afterEach(() => home.close())

it('svc venues lists where real orders can be sent', async () => {
  const { exitCode, stdout } = await home.run(['venues'])
  expect(exitCode).toBe(0)
  for (const id of VENUE_IDS) expect(stdout).toContain(id)
  const { venues } = JSON.parse((await home.run(['venues', '--json'])).stdout) as {
    readonly venues: readonly { readonly id: string; readonly acceptance_window_ms: number }[]
  }
  expect(venues.map(({ id }) => id)).toEqual(VENUE_IDS)
  expect(venues.every(({ acceptance_window_ms }) => acceptance_window_ms > 0)).toBe(true)
})

it('svc live enable refuses other venues with a sentence that names the supported ones', async () => {
  const { exitCode, stderr } = await home.run(['live', 'enable', '--confirm', 'kraken', '--json'], {
    environment: { SVC_EXECUTION__MODE: 'live', SVC_EXECUTION__VENUE: 'kraken' },
  })
  expect(exitCode).toBe(1)
  expect(JSON.parse(stderr)).toMatchObject({
    code: 'live.not_ready',
    detail: expect.stringMatching(/kraken is not supported for live trading.*binanceusdm.*krakenfutures/),
  })
  expect((await home.records()).some(({ type }) => type === 'system.live_confirmed.v1')).toBe(false)
})

it('a margin mode that the venue does not have is refused', async () => {
  const { exitCode, stdout, stderr } = await home.run(['config', 'validate'], {
    environment: { SVC_EXECUTION__VENUE: 'krakenfutures', SVC_EXECUTION__MARGIN_MODE: 'cross' },
  })
  expect(exitCode).not.toBe(0)
  expect(`${stdout}${stderr}`).toContain('must be isolated at krakenfutures')
})
