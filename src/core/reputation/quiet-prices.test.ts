import { expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import { authorKey } from '../shared/author-key.ts'
import { contributorId } from '../shared/brand.ts'
import { DAY_MS } from '../shared/time.ts'
import { reputationAt } from './author-reputation.ts'
import { barAfter, configured, HOUR_MS, say, verdictsIn } from './calls.fixture.ts'
import { contributionsIn } from './evolve.ts'

const DAYS = 40

it('whoever says of a quiet price that it will stay has no more of the vote for it', () => {
  const scenario = configured()
  scenario.bar('BTC', 100)
  for (let day = 0; day < DAYS; day += 1) {
    say(scenario, 'ann', { direction: 'neutral', conviction: 10, horizon: '1h' })
    const [verdict] = verdictsIn(barAfter(scenario, HOUR_MS, 100))
    expect(verdict).toMatchObject({ direction: 'neutral', hit: true })
    barAfter(scenario, DAY_MS - HOUR_MS, 100)
  }
  const { reputation } = scenario.state
  const { karma: rules } = DEFAULT_CONFIGURATION
  const ann = authorKey(contributorId('id of ann'), 'ann')
  expect(contributionsIn(reputation, rules.influence).get(ann)).toMatchObject({
    edge: { mean: 0 },
    influence: 0,
    // The author has outcomes, so it no longer counts fully as a newcomer.
    newcomer: rules.influence.newcomer_calls / (rules.influence.newcomer_calls + DAYS),
  })
  expect(reputationAt(reputation.outcomes, ann, scenario.now, rules)).toBeGreaterThan(60)
})
