import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cycleView, type CycleView } from '../../../core/views/brain.ts'
import { explanationView } from '../../../core/views/brain.ts'
import { PLAIN } from '../terminal.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'
import { cycleText } from './brain.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
  await home.run(['identity', 'create', '--dev'])
})
afterEach(() => home.close())

const BULLISH = ['--direction', 'bullish', '--conviction', '9']

const payloadsOf = async (type: string) =>
  (await home.records()).filter((record) => record.type === type).map(({ payload }) => JSON.parse(payload))

describe('a cycle', () => {
  it('is the object of the interface, and one chain of events under its own trace', async () => {
    await home.run(['signal', 'BTC up', ...BULLISH])
    const { exitCode, stdout } = await home.run(['brain', '--json'])
    expect(exitCode).toBe(0)
    const cycle = cycleView.strict().parse(JSON.parse(stdout))
    expect(cycle).toMatchObject({
      ts: '2026-02-20T00:30:00.000Z',
      regime: 'TRANSITION',
      kill_switch_level: 0,
    })
    const [stored] = await payloadsOf('brain.cycle.v1')
    expect(stored).toMatchObject({ cycle_id: cycle.cycle_id, trigger: 'cli' })
    expect(stored.signals_used.BTC).toHaveLength(1)
    const written = (await home.records()).filter(({ type }) => type.startsWith('brain.'))
    expect(new Set(written.map(({ traceId }) => traceId))).toEqual(new Set([cycle.cycle_id]))
    expect((await payloadsOf('system.audit.v1')).at(-1)).toMatchObject({
      resource: 'cli:brain',
      outcome: 'allowed',
    })
  })

  it('has the settings of the home', async () => {
    await home.run(['brain'], { environment: { SVC_UNIVERSE__SYMBOLS: 'DOGE' } })
    expect((await payloadsOf('brain.cycle.v1'))[0]).toMatchObject({ symbols: ['DOGE'] })
  })

  it('is told to people', async () => {
    const { stdout } = await home.run(['brain', 'run'])
    expect(stdout).toMatch(/^Cycle +[0-9a-f-]{36}\n/)
    expect(stdout).toContain('TRANSITION')
  })

  it.each(['1', '2', '3'])('is denied at level %s, and only that is written', async (level) => {
    await home.run(['kill-switch', 'set', level])
    const before = (await home.records()).length
    const { exitCode, stdout, stderr } = await home.run(['brain', '--json'])
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(JSON.parse(stderr)).toMatchObject({
      status: 423,
      title: 'Locked',
      code: 'kill_switch.active',
      level: Number(level),
    })
    const [denied, ...more] = (await home.records()).slice(before)
    expect(more).toEqual([])
    expect(denied).toMatchObject({ type: 'system.audit.v1', source: 'cli' })
    expect(JSON.parse(denied?.payload ?? '')).toMatchObject({
      resource: 'cli:brain',
      action: 'write',
      outcome: 'denied',
      reason: 'kill_switch_active',
    })
  })

  it('is not begun by a word that means something else', async () => {
    expect((await home.run(['brain', 'statsu'])).exitCode).toBe(2)
    expect(home.log()).toBeNull()
  })
})

describe('status', () => {
  it('knows nothing where nothing is stored, and creates nothing', async () => {
    const { exitCode, stdout } = await home.run(['brain', 'status', '--json'])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      regime: null,
      regime_changed_at: null,
      kill_switch_level: 0,
      kill_switch_reason: null,
      kill_switch_changed_at: null,
      last_cycle_id: null,
      last_cycle_at: null,
    })
    expect(home.log()).toBeNull()
  })

  it('tells of the last cycle and writes nothing', async () => {
    const cycle = JSON.parse((await home.run(['brain', '--json'])).stdout)
    const before = await home.records()
    const { stdout } = await home.run(['brain', 'status', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ regime: 'TRANSITION', last_cycle_id: cycle.cycle_id })
    expect((await home.run(['brain', 'status'])).stdout).toContain(cycle.cycle_id)
    expect(await home.records()).toEqual(before)
  })
})

describe('an explanation', () => {
  it('tells who said what in the last cycle, and what would have changed it', async () => {
    await home.run(['signal', 'BTC up', ...BULLISH])
    const cycle = cycleView.parse(JSON.parse((await home.run(['brain', '--json'])).stdout))
    const { stdout } = await home.run(['brain', 'explain', '--symbol', 'btc', '--json'])
    const explanation = explanationView.strict().parse(JSON.parse(stdout))
    expect(explanation).toMatchObject({ cycle_id: cycle.cycle_id, rules_changed: false, trigger: 'cli' })
    expect(explanation.convictions).toHaveLength(1)
    expect(explanation.convictions[0]).toMatchObject({
      symbol: 'BTC',
      decision: { action: 'none', reasons: ['coverage'] },
      inputs: [{ domain: 'curator', share: 0.5, quality: 1, evidence: 0.9, contribution: 0.45 }],
      value: 0.45,
      what_if: [
        { change: 'without_author', value: 0, direction: 'neutral', action: 'none', changes_decision: false },
        { change: 'without_domain', subject: 'curator', value: 0, action: 'none' },
        { change: 'other_regime', subject: 'BULL', value: 0.45 },
        { change: 'other_regime', subject: 'BEAR', value: 0.45 },
        { change: 'other_regime', subject: 'CRISIS', value: 0.45 },
      ],
    })
    const same = await home.run([
      'brain',
      'explain',
      explanation.convictions[0]?.conviction_id ?? '',
      '--json',
    ])
    expect(JSON.parse(same.stdout)).toEqual(explanation)
    const { stdout: text } = await home.run(['brain', 'explain'])
    expect(text).toContain('coverage')
    expect(text).toContain('+0.450')
  })

  it('says that settings have changed since', async () => {
    await home.run(['brain'])
    const { stdout } = await home.run(['brain', 'explain', '--json'], {
      environment: { SVC_BRAIN__MIN_DOMAINS: '1' },
    })
    expect(JSON.parse(stdout)).toMatchObject({ rules_changed: true })
  })

  it('fails for what nobody knows', async () => {
    await home.run(['signal', 'BTC up'])
    for (const words of [
      ['brain', 'explain'],
      ['brain', 'explain', 'nothing'],
    ]) {
      const { exitCode, stderr } = await home.run([...words, '--json'])
      expect([exitCode, JSON.parse(stderr)]).toMatchObject([1, { code: 'decision.not_found', status: 404 }])
    }
  })
})

describe('the text of a cycle', () => {
  const QUIET: CycleView = {
    cycle_id: 'c-1',
    ts: '2026-02-20T00:30:00.000Z',
    intents: [],
    regime: null,
    kill_switch_level: 0,
  }

  it('says that a cycle wants nothing', () => {
    expect(cycleText(QUIET)(PLAIN)).toBe(
      'Cycle        c-1\nStarted at   2026-02-20T00:30:00.000Z\nRegime       unknown\n' +
        'Kill switch  level 0\nIntents      none\n',
    )
  })

  it('lists what it wants, and why it does not get it', () => {
    const intent = {
      intent_id: 'i-1',
      symbol: 'BTC',
      direction: 'long',
      size_pct: 0.05,
      leverage: 2,
      conviction_score: 78.25,
      regime: 'BULL',
      rationale: 'x',
      stop_loss_pct: 0.05,
      take_profit_pct: 0.1,
      valid_until: '2026-02-20T00:45:00.000Z',
      status: 'rejected',
      reasons: ['dcg_symbol', 'no_price'],
      position_id: null,
    } as const
    const text = cycleText({
      ...QUIET,
      regime: 'BULL',
      intents: [{ ...intent, reasons: [...intent.reasons] }],
    })(PLAIN)
    expect(text).toContain('Intents      1\n\n')
    expect(text.split('\n').slice(-3)).toEqual([
      'Symbol  Side  Conviction  Size %  Status    Reasons               Intent',
      'BTC     long        78.3    5.00  rejected  dcg_symbol, no_price  i-1',
      '',
    ])
  })
})
