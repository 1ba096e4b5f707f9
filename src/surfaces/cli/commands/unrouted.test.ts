import { afterEach, beforeEach, expect, it } from 'vitest'
import { chain } from '../../../core/log/hash-chain.ts'
import { EMPTY_HEAD } from '../../../core/log/event.ts'
import { enterLive, liveScenario, VENUE } from '../../../core/trading/live.fixture.ts'
import { sha256Hex } from '../../../engine/sha256.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
  const scenario = liveScenario()
  enterLive(scenario)
  const unsigned = { signature: null, signer: null, batchSignature: null, commands: null }
  await home.adoptRecords(
    chain(scenario.log, EMPTY_HEAD, sha256Hex).map((record) => ({ ...record, ...unsigned })),
  )
})
afterEach(() => home.close())

const AT_BYBIT = { environment: { SVC_EXECUTION__MODE: 'live', SVC_EXECUTION__VENUE: 'bybit' } }
const AT_HOME = { environment: { SVC_EXECUTION__MODE: 'live', SVC_EXECUTION__VENUE: VENUE } }

it('"svc live", "svc positions" and "svc doctor" name what is open at another venue, and what to do', async () => {
  for (const words of [['live'], ['positions'], ['doctor']]) {
    const { stdout, exitCode } = await home.run(words, AT_BYBIT)
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`${VENUE} has the long position`)
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`Set execution.venue to ${VENUE}`)
    expect(exitCode).toBe(words[0] === 'doctor' ? 1 : 0)
    expect((await home.run(words, AT_HOME)).stdout).not.toContain('Set execution.venue')
  }
  const { stdout } = await home.run(['doctor', '--json'], AT_BYBIT)
  expect(JSON.parse(stdout).checks.at(-1)).toMatchObject({ check: 'venue', ok: false })
})

it('the venue cannot be changed while something is open at it', async () => {
  const { exitCode, stderr } = await home.run(['config', 'set', 'execution.venue', 'bybit'])
  expect(exitCode).toBe(1)
  expect(stderr).toContain(`must be ${VENUE} while positions or orders are open there`)
  expect((await home.run(['config', 'set', 'execution.venue', VENUE])).exitCode).toBe(0)
  expect((await home.run(['config', 'set', 'execution.venue', 'bybit'])).exitCode).toBe(1)
})
