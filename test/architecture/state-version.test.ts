import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { CATALOGUE } from '../../src/core/events/catalogue.ts'
import type { Stamped } from '../../src/core/log/event.ts'
import { encodeState } from '../../src/core/state-codec.ts'
import { evolve, INITIAL_STATE, STATE_VERSION, type State } from '../../src/core/state.ts'
import { sha256Hex } from '../records.fixture.ts'

/**
 * The hash of the fold of sample-log.jsonl, for each STATE_VERSION. Code only uses snapshots of its own version. Code
 * that folds differently therefore needs a new version: otherwise it would continue from a state that it would not have
 * produced.
 */
const FOLD_HASHES: Readonly<Record<string, string>> = {
  '30': '7242dd0299d4add655424e23ed531f78dce7c5033f71aaa365872edad2f7e9f1',
}

/** Recorded events with every type of the catalogue. Add a line at the end for a new type. */
const SAMPLE: readonly Stamped[] = readFileSync(new URL('sample-log.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Stamped)

type Fold = (state: State, event: Stamped) => State

/** Hash of the states after every event, so that a difference counts even if a later event removes it. */
const hashOfFold = (fold: Fold): string => {
  let state = INITIAL_STATE
  let hash = ''
  for (const event of SAMPLE) {
    state = fold(state, event)
    hash = sha256Hex(hash + encodeState(state))
  }
  return hash
}

const adviceFor = (version: string, hash: string): string | null => {
  const recorded = FOLD_HASHES[version]
  if (recorded === hash) return null
  return recorded === undefined
    ? `STATE_VERSION ${version} is new: record its hash in FOLD_HASHES: '${version}': '${hash}'`
    : `the fold or the form of the state changed: increase STATE_VERSION in src/core/state.ts, then record the hash of ` +
        `the new version in FOLD_HASHES: '${hash}'`
}

describe('the version of the state', () => {
  it('changes whenever the fold does', () => {
    expect(adviceFor(STATE_VERSION, hashOfFold(evolve))).toBeNull()
  })

  it('is checked with events of every type, all of them sound', () => {
    const types = new Set(SAMPLE.map(({ type }) => type))
    expect(Object.keys(CATALOGUE).filter((type) => !types.has(type))).toEqual([])
    const unsound = SAMPLE.filter(({ type, payload }) => {
      const schema = Object.entries(CATALOGUE).find(([name]) => name === type)?.[1]
      return schema !== undefined && !schema.safeParse(payload).success
    })
    expect(unsound).toEqual([])
  })
})

describe('the check of the version', () => {
  it('finds a fold that ignores one event', () => {
    const ignoring: Fold = (state, event) =>
      evolve(state, event.type === 'trace.session_closed.v1' ? { ...event, type: 'ignored' } : event)
    expect(hashOfFold(ignoring)).not.toBe(hashOfFold(evolve))
  })

  it('finds a fold that takes trades of a strategy for trades of the brain', () => {
    const mixing: Fold = (before, event) => {
      const state = evolve(before, event)
      const { ledger } = state.trading
      const closes = ledger.closes.map(({ by: _by, ...close }) => close)
      return { ...state, trading: { ...state.trading, ledger: { ...ledger, closes } } }
    }
    expect(hashOfFold(mixing)).not.toBe(hashOfFold(evolve))
  })

  it('asks for a new version when the hash differs', () => {
    const [version = ''] = Object.keys(FOLD_HASHES)
    expect(adviceFor(version, 'abc')).toContain('increase STATE_VERSION')
  })

  it('asks for the hash of a new version', () => {
    expect(adviceFor('9999', 'abc')).toContain("'9999': 'abc'")
  })
})
