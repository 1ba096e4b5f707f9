import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { given, stateAfter } from '../../../../test/given.fixture.ts'
import type { NewEvent } from '../../events/catalogue.ts'
import type { KillSwitchLevel } from '../../shared/level.ts'
import { assessRisk, INITIAL_KILL_SWITCH } from './kill-switch.ts'

const levels = [0, 1, 2, 3] as const
const cause = {
  reason: 'daily_loss_pct=0.031',
  triggers: [{ name: 'daily_loss', value: 0.031, threshold: 0.03 }],
}

const raisedTo = (level: KillSwitchLevel): NewEvent => ({
  type: 'system.kill_switch.v1',
  source: 'api.kill_switch',
  payload: { level, prev_level: 0, reason: 'test', triggered_by: 'svc-1' },
})
const move = (level: KillSwitchLevel) => ({
  level,
  reason: 'because',
  operator: 'svc-1',
  surface: 'api' as const,
})

describe('an operator', () => {
  it('raises with an alert and is named', () => {
    given()
      .when({ kind: 'set-kill-switch', move: move(2) })
      .then(
        {
          type: 'system.kill_switch.v1',
          payload: { level: 2, prev_level: 0, reason: 'because', triggered_by: 'svc-1' },
        },
        { type: 'alert.kill_switch', payload: { level: 2, prev_level: 0, urgency: 'immediate', repeat: 0 } },
      )
  })

  it('lowers without an alert, and the event says reset_by and not triggered_by', () => {
    const state = given(raisedTo(3))
      .when({ kind: 'set-kill-switch', move: move(1) })
      .then({ type: 'system.kill_switch.v1', payload: { level: 1, prev_level: 3, reset_by: 'svc-1' } })
    expect(state.trading.killSwitch).toEqual({
      level: 1,
      reason: 'because',
      changedAt: expect.any(String),
      changedBy: 'svc-1',
      acknowledged: {},
    })
  })

  it('changes nothing by choosing the current level', () => {
    for (const level of levels)
      given(raisedTo(level))
        .when({ kind: 'set-kill-switch', move: move(level) })
        .thenNothing()
  })

  it('never lowers it by what was meant as a raise', () => {
    for (const level of levels)
      for (const target of levels.filter((one) => one <= level))
        given(raisedTo(level))
          .when({ kind: 'set-kill-switch', move: { ...move(target), raiseOnly: true } })
          .thenNothing()
    given(raisedTo(1))
      .when({ kind: 'set-kill-switch', move: { ...move(2), raiseOnly: true } })
      .then(
        { type: 'system.kill_switch.v1', payload: { level: 2, prev_level: 1 } },
        { type: 'alert.kill_switch', payload: { level: 2 } },
      )
  })

  it('cannot raise by a reset', () => {
    given(raisedTo(1))
      .when({ kind: 'reset-kill-switch', move: move(2) })
      .thenRefused('kill_switch.not_lower', { level: 1 })
  })

  it('resets to any lower level', () => {
    given(raisedTo(3))
      .when({ kind: 'reset-kill-switch', move: move(0) })
      .then({ type: 'system.kill_switch.v1', payload: { level: 0, reset_by: 'svc-1' } })
  })
})

describe('a caller who is no operator', () => {
  const set = (level: KillSwitchLevel) =>
    ({ kind: 'set-kill-switch', move: { ...move(level), mayLower: false } }) as const

  it('raises the level', () => {
    given(raisedTo(1)).when(set(3)).then({ type: 'system.kill_switch.v1' }, { type: 'alert.kill_switch' })
  })

  it('does not lower it, from any level to any level', () => {
    for (const from of levels)
      for (const to of levels.filter((level) => level < from))
        given(raisedTo(from)).when(set(to)).thenRefused('auth.forbidden', { level: from })
  })

  it('changes nothing by choosing the current level', () => {
    given(raisedTo(2)).when(set(2)).thenNothing()
  })
})

describe('an automatic cause', () => {
  it('raises, and every raise alerts', () => {
    given(raisedTo(1))
      .when({ kind: 'escalate', to: 2, cause })
      .then(
        { type: 'system.kill_switch.v1', payload: { level: 2, prev_level: 1, triggered_by: 'risk_monitor' } },
        { type: 'alert.kill_switch' },
      )
  })

  it('never lowers the level, from any level to any level', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...levels)), fc.constantFrom(...levels), (raises, to) => {
        const happened = raises.map(raisedTo)
        const before = stateAfter(happened).trading.killSwitch.level
        const decision = given(...happened).when({ kind: 'escalate', to, cause })
        if (to <= before) decision.thenNothing()
        else
          expect(
            decision.then({ type: 'system.kill_switch.v1' }, { type: 'alert.kill_switch' }).trading.killSwitch
              .level,
          ).toBe(to)
      }),
    )
  })
})

describe('a malformed kill-switch event', () => {
  it.each([[{}], [{ level: 7, reason: 'x' }], [{ level: '0', reason: 'x' }], [{ level: 0 }]])(
    '%j folds to level 3',
    (payload) => {
      const event = { ...raisedTo(0), payload } as unknown as NewEvent
      expect(stateAfter([event]).trading.killSwitch).toMatchObject({ level: 3, reason: 'integrity_failed' })
    },
  )
})

describe('a start', () => {
  const started = (ok: boolean) => ({
    version: '1.0.0',
    node_id: `svc-${'ab'.repeat(8)}`,
    public_key: 'ab'.repeat(32),
    ephemeral: false,
    integrity: { ok, reason: ok ? null : 'hash', first_bad_seq: ok ? null : 7 },
  })

  it('on a whole log only says so', () => {
    const state = given()
      .when({ kind: 'start', started: started(true) })
      .then({ type: 'system.started.v1' }, { type: 'contributor.registered.v1' })
    expect(state.operations.nodes.publicKeys.get(`svc-${'ab'.repeat(8)}`)).toBe('ab'.repeat(32))
  })

  it('on a damaged log raises to lockdown in the same batch', () => {
    given()
      .when({ kind: 'start', started: started(false) })
      .then(
        {
          type: 'system.started.v1',
          payload: { integrity: { ok: false, reason: 'hash', first_bad_seq: 7 } },
        },
        { type: 'contributor.registered.v1' },
        { type: 'system.kill_switch.v1', payload: { level: 3, reason: 'integrity_failed' } },
        { type: 'alert.kill_switch' },
      )
  })
})

describe('an acknowledged condition', () => {
  const acknowledged = { ...INITIAL_KILL_SWITCH, acknowledged: { daily_loss_pct: 0.04 } }
  const levelAt = (value: number, step = 0.01): unknown => {
    const condition = { name: 'daily_loss_pct', value, threshold: 0.03, to: 1, step } as const
    const decision = assessRisk(acknowledged, [condition])
    if (decision.status === 'refused') throw new Error('refused')
    return decision.events.find(({ type }) => type === 'system.kill_switch.v1')?.payload ?? null
  }

  it('does not raise again while it is unchanged, or worse by less than a step', () => {
    expect(levelAt(0.03)).toBeNull()
    expect(levelAt(0.04)).toBeNull()
    expect(levelAt(0.049_999)).toBeNull()
  })

  it('raises again once it is worse by a whole step', () => {
    // Binary fractions are not exact: 0.07 - 0.04 comes to more than 0.03, and 0.05 - 0.04 too.
    expect(levelAt(0.05)).toMatchObject({ level: 1, triggers: [{ value: 0.05 }] })
    expect(levelAt(0.07, 0.03)).toMatchObject({ level: 1 })
    expect(levelAt(0.06)).toMatchObject({ level: 1 })
  })
})
