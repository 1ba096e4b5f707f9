import { expect, it } from 'vitest'
import { createDraws } from './draws.ts'
import { sha256Hex } from './path.fixture.ts'

it('gives the golden numbers', () => {
  const draws = createDraws(42, 1, 'market', sha256Hex)
  expect([draws.next(), draws.next(), draws.next(), draws.next()]).toEqual([
    2_693_351_696, 100_707_161, 1_653_874_864, 160_113_515,
  ])
})

it('makes a normal draw of twelve uniform ones, and both go on in the same stream', () => {
  const [whole, parts] = [createDraws(1, 2, 'a', sha256Hex), createDraws(1, 2, 'a', sha256Hex)]
  for (let round = 0; round < 100; round += 1) {
    let sum = 0
    for (let draw = 0; draw < 12; draw += 1) sum += parts.uniform()
    expect(whole.normal()).toBe(sum - 6)
    expect(whole.next()).toBe(parts.next())
  }
})

it('differs by seed, segment and stream', () => {
  const firsts = [
    createDraws(1, 1, 'a', sha256Hex),
    createDraws(2, 1, 'a', sha256Hex),
    createDraws(1, 2, 'a', sha256Hex),
    createDraws(1, 1, 'b', sha256Hex),
  ].map((draws) => draws.next())
  expect(new Set(firsts).size).toBe(4)
})

it('takes nothing for a digest that is none', () => {
  expect(() => createDraws(1, 1, 'a', () => 'x')).toThrow('64 hex digits')
})
