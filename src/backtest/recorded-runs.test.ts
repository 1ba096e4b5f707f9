import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { RECORDED_CASES, recordedRun } from './recorded-runs.fixture.ts'

type Recorded = Awaited<ReturnType<typeof recordedRun>>

const RECORDED = JSON.parse(readFileSync(new URL('recorded-runs.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, Recorded>
>

/** Results before and after a change of the evaluator. A change of a rule records them again. */
describe('a recorded run has the same result', () => {
  it.each(Object.keys(RECORDED_CASES))('%s', async (name) => {
    const withEvents = await recordedRun(name, true)
    expect(withEvents).toEqual(RECORDED[name])
    const { summary } = await recordedRun(name, false)
    expect(summary).toEqual(RECORDED[name]?.summary)
  })
})
