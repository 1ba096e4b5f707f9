import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { configurationRecord } from '../core/config/recorded.ts'
import type { Configuration } from '../core/config/schema.ts'
import { createMemoryExchange } from '../../test/simulation/memory-exchange.fixture.ts'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import { barAt } from '../core/market/bars.fixture.ts'
import { intentId, orderId } from '../core/shared/brand.ts'
import { minus, priceFrom, quantityFrom, usdFrom, type Quantity } from '../core/shared/money.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'
import { DAY_MS, timestampAt } from '../core/shared/time.ts'
import { openPositionsOf } from '../core/trading/positions/book.ts'
import type { AccountSweep } from '../core/trading/venue/account-differences.ts'
import { sha256Hex } from '../engine/sha256.ts'
import { openTestHome, type TestHome } from './cli/test-home.fixture.ts'
import { startTestServer, type TestServer } from './http/test-server.fixture.ts'
import { callersOf, resultOf } from './mcp/caller.fixture.ts'

/*
 * What users can do through routes, tools and commands, on one log: first with orders on paper, then with orders at a
 * venue. Each act is named after its operation, tool or command.
 */

const SYMBOLS = ['BTC', 'ETH', 'SOL', 'ADA', 'XRP', 'DOT', 'LTC', 'BNB', 'AVAX', 'LINK'] as const

const VENUE = 'bybit'

const SETTINGS = {
  universe: { symbols: [...SYMBOLS] },
  execution: { require_approval: true, paper_min_days: 1, venue: VENUE },
  kill_switch: { l2_loss_streak: 0 },
  karma: { enabled: true, treasury_address: '0xabc' },
  market: { feed: 'none' },
}

/** Settings of the second stage, in which orders go to a venue. */
const LIVE_SETTINGS = { ...SETTINGS, execution: { ...SETTINGS.execution, mode: 'live' } }

export const log = new MemoryLog()

/** Secrets of the access keys that were created. */
export const keySecrets: string[] = []

let server: TestServer
let home: TestHome

/** Starts a server on the log, and gives the home its settings. */
const startWith = async (settings: typeof SETTINGS): Promise<void> => {
  server = await startTestServer({ asOperator: true, settings, log })
  await writeFile(join(home.folder, 'config', 'user.yaml'), JSON.stringify(settings), { mode: 0o600 })
  const change = {
    changed: [],
    ...configurationRecord(server.configuration.current(), sha256Hex),
  }
  await server.engine.execute({ kind: 'record-config-change', change, surface: 'api' })
}

const advance = (ms: number): void => {
  for (const clock of [server.testClock, home.clock]) clock.advance(ms)
}

/** The next bar of some symbols, a minute later. */
const observe = async (close: number, symbols: readonly string[] = SYMBOLS): Promise<void> => {
  advance(60_000)
  const openTs = timestampAt(server.testClock.now() - 60_000)
  const bars = symbols.map((symbol) =>
    barAt(openTs, close, { symbol, volume: 1000, open: close, high: close, low: close }),
  )
  await server.engine.execute({ kind: 'observe-bars', observation: { feed: `ccxt:${VENUE}`, bars } })
}

/** Opens the first server and the home, whose key the server admits. */
export const openSurfaces = async (): Promise<void> => {
  home = await openTestHome()
  home.shareLog(log)
  await mkdir(join(home.folder, 'config'))
  await startWith(SETTINGS)
  await command('identity', 'create', '--dev')
  const { node_id, public_key } = JSON.parse((await home.run(['identity', 'show', '--json'])).stdout)
  const key = { node_id, public_key, reason: 'test' }
  const admitted = await server.engine.execute({ kind: 'admit-key', key })
  if (admitted.status !== 'done') throw new Error(`the key of the home is not admitted: ${admitted.status}`)
  await observe(100)
}

/** Ends paper trading: from now on a server on the same log sends orders to a venue. */
export const startLive = async (): Promise<void> => {
  await server.close()
  await startWith(LIVE_SETTINGS)
  advance(2 * DAY_MS)
  await observe(100)
}

export const closeSurfaces = async (): Promise<void> => {
  await home.close()
  await server.close()
}

export const configurationNow = (): Configuration => server.configuration.current()

export type Acts = Readonly<Record<string, () => Promise<unknown>>>

/** Does each of them in turn. All of them have to store something. */
export const tryAll = async (acts: Acts): Promise<void> => {
  for (const [name, act] of Object.entries(acts)) {
    const { seq } = await log.head()
    await act()
    await server.engine.fresh()
    expect((await log.head()).seq, `${name} stored nothing`).toBeGreaterThan(seq)
  }
}

const route = async (method: string, path: string, json?: unknown): Promise<Record<string, unknown>> => {
  const { status, text, body } = await server.call(method, path, json === undefined ? {} : { json })
  expect(status, `${method} ${path}: ${text}`).toBeLessThan(300)
  return body
}

const tool = async (name: string, args: object): Promise<void> => {
  const call = async (given: object) => resultOf(await callersOf(server).tool(name, given))
  const asked = await call(args)
  expect(asked, name).toMatchObject({ isError: false })
  const { confirm } = asked.structuredContent
  if (confirm !== undefined) expect(await call({ ...args, confirm }), name).toMatchObject({ isError: false })
}

const command = async (...words: readonly string[]): Promise<void> => {
  const { exitCode, stderr } = await home.run(words)
  expect([exitCode, stderr], words.join(' ')).toEqual([0, ''])
}

/** The intent of a trade that waits for an operator. */
const intentFor = async (symbol: string): Promise<string> => {
  const proposal = { rule: 'mine', symbol, direction: 'long', conviction: 95, sizePct: 0.02 } as const
  const outcome = await server.engine.execute({ kind: 'propose-trade', proposal })
  const made = outcome.status === 'done' ? outcome.events : []
  const id = made.find(({ type }) => type === 'execution.trade_intent.v1')?.id
  if (id === undefined) throw new Error(`no intent for ${symbol}`)
  return id
}

const positionIn = async (symbol: string): Promise<string> => {
  const id = intentId(await intentFor(symbol))
  const decision = { intentId: id, operator: server.engine.nodeId, note: null, surface: 'api' } as const
  await server.engine.execute({ kind: 'approve-intent', decision })
  const position = server.engine.state.trading.intents.get(id)?.positionId
  if (position === null || position === undefined) throw new Error(`no position in ${symbol}`)
  return position
}

const openAlert = (): string => {
  const id = [...server.engine.state.operations.alerts.keys()][0]
  if (id === undefined) throw new Error('no alert is open')
  return id
}

/** The share of a profit that nobody has paid yet, made by a trade on paper or at the venue. */
const accrual = (mode: 'paper' | 'live'): string => {
  const [id] = [...server.engine.state.treasury.pending].find(([, one]) => one.mode === mode) ?? []
  if (id === undefined) throw new Error(`no ${mode} share is pending`)
  return id
}

/** An order that waits: of paper for volume, of the live stage for the venue. */
const openOrder = async (symbol: string): Promise<string> => {
  const id = intentId(await intentFor(symbol))
  const decision = { intentId: id, operator: server.engine.nodeId, note: null, surface: 'api' } as const
  await server.engine.execute({ kind: 'approve-intent', decision })
  const order = [...server.engine.state.trading.orders.open.values()].find((one) => one.symbol === symbol)
  if (order === undefined) throw new Error(`no order in ${symbol} is open`)
  return order.id
}

/** The venue reports what became of an order: filled at this price, or canceled without a fill. */
const reportOrder = async (id: string, price: number | null): Promise<void> => {
  const order = server.engine.state.trading.orders.open.get(orderId(id))
  if (order === undefined) throw new Error(`order ${id} is not open`)
  const { quantity } = order
  const fill = { venueTradeId: `trade-${id}`, feeUsd: usdFrom(0.01), atMs: server.testClock.now() }
  const report =
    price === null
      ? ({ status: 'canceled', filledQuantity: 0n as Quantity, fills: [] } as const)
      : ({
          status: 'filled',
          filledQuantity: quantity,
          fills: [{ ...fill, price: priceFrom(price), quantity }],
        } as const)
  const kind = 'record-report'
  await server.engine.execute({
    kind,
    orderId: orderId(id),
    report: { venueOrderId: `venue-${id}`, ...report },
    lookups: null,
  })
}

/** A position at the venue. */
const livePosition = async (symbol: string, price: number): Promise<void> =>
  reportOrder(await openOrder(symbol), price)

/** Closes a position at the venue. */
const sell = async (symbol: string, price: number): Promise<void> => {
  const position = openPositionsOf(server.engine.state.trading).find(({ terms }) => terms.asset === symbol)
  if (position === undefined) throw new Error(`no position in ${symbol}`)
  const by = { operator: server.engine.nodeId, surface: 'api' } as const
  await server.engine.execute({ kind: 'close-position', positionId: position.id, by })
  const exit = [...server.engine.state.trading.orders.open.values()].find((one) => one.symbol === symbol)
  if (exit === undefined) throw new Error(`no exit in ${symbol}`)
  await reportOrder(exit.id, price)
}

/** The venue reports what it holds in a symbol: nothing, or one position. */
const compare = async (symbol: string, quantity: Quantity | null): Promise<void> => {
  const held = { symbol, direction: 'long', entryPrice: priceFrom(100), leverage: 1 } as const
  const sweep: AccountSweep = {
    venue: VENUE,
    quietSymbols: [canonicalSymbol(symbol)],
    liquidations: [],
    positions: quantity === null ? [] : [{ ...held, quantity }],
  }
  await server.engine.execute({ kind: 'compare-account', sweep })
  expect(server.engine.state.trading.venue.reduceOnly, symbol).not.toBeNull()
}

const ids = { contributor: '', session: '', backtest: '', sweep: '' }

const RANGE = { symbol: 'BTC', from: '2026-01-05T00:00:00Z', to: '2026-01-06T00:00:00Z' }
const BACKTEST = { ...RANGE, strategy: 'ma_crossover' }
const SWEEP = { ...BACKTEST, set: ['fast=5,10'] }

/** By operation, in an order in which each can be done. */
export const BY_ROUTE: Acts = {
  registerContributor: async () => {
    const body = { node_id: 'n1', name: 'Ann', role: 'curator' }
    ids.contributor = String((await route('POST', '/contributors/register', body))['id'])
  },
  registerProducer: () =>
    route('POST', '/producers/register', {
      name: 'p1',
      domain: 'onchain',
      endpoint: 'https://example.com/x',
    }),
  submitSignal: () =>
    route('POST', '/signals/submit', {
      event_type: 'signal.curator.v1',
      node_id: 'n1',
      payload: { symbol: 'BTC', direction: 'bullish', conviction: 7 },
    }),
  giveFeedback: () => route('POST', '/producers/p1/feedback', { outcome: 'profit' }),
  openTraceSession: async () => {
    ids.session = String((await route('POST', '/trace/sessions'))['id'])
  },
  appendToTraceSession: () => route('PUT', `/trace/sessions/${ids.session}/append`, { trace_id: 't' }),
  closeTraceSession: () => route('DELETE', `/trace/sessions/${ids.session}`),
  startBacktest: async () => {
    ids.backtest = String((await route('POST', '/backtests', BACKTEST))['id'])
  },
  cancelBacktest: () => route('DELETE', `/backtests/${ids.backtest}`),
  startSweep: async () => {
    ids.sweep = String((await route('POST', '/sweeps', SWEEP))['id'])
  },
  cancelSweep: () => route('DELETE', `/sweeps/${ids.sweep}`),
  changeConfiguration: () => route('POST', '/config', { execution: { paper_partial_fills: true } }),
  cancelOrder: async () => {
    await route('POST', `/orders/${await openOrder('LINK')}/cancel`, { reason: 'too slow' })
    await route('POST', '/config', { execution: { paper_partial_fills: false } })
  },
  approveIntent: async () => route('POST', `/intents/${await intentFor('BTC')}/approve`),
  denyIntent: async () => route('POST', `/intents/${await intentFor('SOL')}/deny`, { note: 'no' }),
  closePosition: async () =>
    route('POST', `/positions/${await positionIn('ETH')}/close`, { reason: 'enough' }),
  settleKarma: async () => {
    await positionIn('ADA')
    await observe(101, ['ADA'])
    await route('POST', '/positions/close-all', { reason: 'up' })
    await route('POST', '/karma/settle', { intent_ids: [accrual('paper'), 'unknown'] })
    await positionIn('ADA')
    await observe(102, ['ADA'])
  },
  closeAllPositions: () => route('POST', '/positions/close-all'),
  setKillSwitch: async () => {
    for (const level of [1, 3, 2, 0]) await route('POST', '/kill-switch', { level, reason: `level ${level}` })
  },
  acknowledgeAlerts: () => route('POST', '/alerts/acknowledge', { alert_ids: [openAlert()] }),
  runBrainCycle: () => route('POST', '/brain/run'),
  runLearning: () => route('POST', '/learning/run'),
  createAccessKey: async () => {
    const { secret } = await route('POST', '/access-keys', { name: 'k1', scopes: ['read'] })
    keySecrets.push(String(secret))
  },
  revokeAccessKey: () => route('DELETE', '/access-keys/k1'),
  removeProducer: () => route('DELETE', '/producers/p1'),
  removeContributor: () => route('DELETE', `/contributors/${ids.contributor}`),
}

export const BY_TOOL: Acts = {
  emit_producer_signal: async () => {
    const endpoint = 'https://example.com/x'
    await route('POST', '/producers/register', { name: 'p2', domain: 'onchain', endpoint })
    const payload = { symbol: 'BTC', direction: 'bearish', conviction: 6 }
    await tool('emit_producer_signal', {
      producer_id: 'p2',
      signal_type: 'signal.onchain.v1',
      payload,
      dedupe_key: 'k',
    })
  },
  approve_intent: async () => tool('approve_intent', { intent_id: await intentFor('ADA'), note: 'fine' }),
  deny_intent: async () => tool('deny_intent', { intent_id: await intentFor('XRP') }),
  close_position: async () =>
    tool('close_position', { position_id: await positionIn('DOT'), reason: 'enough' }),
  close_all_positions: () => tool('close_all_positions', {}),
  set_kill_switch: async () => {
    for (const level of [2, 0]) await tool('set_kill_switch', { level, reason: `level ${level}` })
  },
  run_backtest: () => tool('run_backtest', { ...BACKTEST, wait_seconds: 0 }),
  run_sweep: () => tool('run_sweep', { ...SWEEP, wait_seconds: 0 }),
  acknowledge_alerts: () => tool('acknowledge_alerts', { alert_ids: [openAlert()] }),
}

const otherKey = 'ab'.repeat(32)

export const MASTER_PASSWORD = 'correct horse'
const PASSWORD = { environment: { SVC_MASTER_PASSWORD: MASTER_PASSWORD } }

export const BY_COMMAND: Acts = {
  'contributors register': () =>
    command('contributors', 'register', '--node-id', 'n2', '--name', 'Bob', '--role', 'curator'),
  'contributors remove': () => command('contributors', 'remove', '--node-id', 'n2'),
  'producers register': () =>
    command(
      'producers',
      'register',
      '--name',
      'p3',
      '--domain',
      'onchain',
      '--endpoint',
      'https://example.com/y',
    ),
  'producers remove': () => command('producers', 'remove', 'p3'),
  signal: () => command('signal', 'BTC up', '--direction', 'bullish', '--conviction', '7'),
  'signal add': async () => {
    const file = join(home.folder, 'note.txt')
    await writeFile(file, 'ETH down')
    await command('signal', 'add', '--file', file, '--direction', 'bearish')
  },
  'intents approve': async () => command('intents', 'approve', await intentFor('LTC'), '--note', 'fine'),
  'intents deny': async () => command('intents', 'deny', await intentFor('BNB')),
  'positions close': async () => {
    await command('positions', 'close', await positionIn('AVAX'), '--reason', 'enough', '--yes')
    await positionIn('LINK')
    await command('positions', 'close', '--all', '--yes')
  },
  'kill-switch set': () => command('kill-switch', 'set', '3', '--reason', 'incident'),
  'kill-switch reset': async () => {
    await command('kill-switch', 'reset', '--level', '1', '--reason', 'nearly over')
    await command('kill-switch', 'reset', '--reason', 'over')
  },
  'brain run': () => command('brain', 'run'),
  'learn run': () => command('learn', 'run'),
  'keys create': async () => {
    const { stdout } = await home.run(['keys', 'create', '--name', 'k2', '--scopes', 'read', '--json'])
    keySecrets.push((JSON.parse(stdout) as { secret: string }).secret)
  },
  'keys revoke': () => command('keys', 'revoke', 'k2'),
  'identity admit': () => command('identity', 'admit', `svc-${otherKey.slice(0, 16)}`, otherKey),
  'identity retire': () => command('identity', 'retire', `svc-${otherKey.slice(0, 16)}`, '--reason', 'left'),
  init: () => command('init', '--dev'),
  'vault set': async () => {
    expect((await home.run(['vault', 'set', 'a.b'], { ...PASSWORD, stdin: 'secret\n' })).exitCode).toBe(0)
  },
  'vault remove': async () => {
    expect((await home.run(['vault', 'remove', 'a.b'], PASSWORD)).exitCode).toBe(0)
  },
  'karma settle': async () => {
    await positionIn('ADA')
    await observe(103, ['ADA'])
    await command('positions', 'close', '--all', '--yes')
    await command('karma', 'settle', accrual('paper'), '--tx-hash', '0x9f2c')
  },
  'strategies enable': () => command('strategies', 'enable', 'ma_crossover', '--set', 'fast=5'),
  'strategies disable': () => command('strategies', 'disable', 'ma_crossover'),
  'config set': () => command('config', 'set', 'brain.cycle_interval_seconds', '600'),
}

/** The second stage: orders go to a venue, whose reports are given to the engine as its router would. */
export const LIVE: Acts = {
  'live enable': async () => {
    const dependencies = { openBroker: () => Promise.resolve(createMemoryExchange(() => 0)) }
    expect(await home.run(['live', 'enable', '--confirm', VENUE], { dependencies })).toMatchObject({
      exitCode: 0,
      stderr: '',
    })
    await checkVenue()
  },
  cancel_order: async () => {
    const id = await openOrder('BTC')
    await tool('cancel_order', { order_id: id, reason: 'too slow' })
    await reportOrder(id, null)
  },
  'orders cancel': async () => {
    const id = await openOrder('ETH')
    await command('orders', 'cancel', id)
    await reportOrder(id, null)
  },
  resumeLive: async () => {
    await compare('SOL', quantityFrom(1))
    await route('POST', '/live/resume', { reason: 'mine' })
  },
  'live resume': async () => {
    await livePosition('XRP', 100)
    await compare('XRP', null)
    await command('live', 'resume', '--reason', 'sold by hand')
    await livePosition('DOT', 100)
    const position = openPositionsOf(server.engine.state.trading).find(({ terms }) => terms.asset === 'DOT')
    await compare('DOT', minus(position?.holding.quantity ?? (0n as Quantity), quantityFrom(0.1)))
    await command('live', 'resume', '--reason', 'a part was sold by hand')
  },
  migrateWallet: async () => {
    await livePosition('LTC', 100)
    await sell('LTC', 110)
    await route('POST', '/karma/settle', { intent_ids: [accrual('live')], tx_hash: '0xfeed' })
    await route('POST', '/karma/migrate-wallet', { address: '0xdef', reason: 'new wallet' })
  },
  'karma migrate-wallet': () => command('karma', 'migrate-wallet', '0x123', '--reason', 'newer wallet'),
  integrity: async () => {
    // A checkpoint of a longer log, as of a backup that is older than the checkpoints beside it.
    const longer = new MemoryLog()
    for (const record of await log.read({ order: 'asc', limit: 1_000_000 }))
      await longer.append([record], await longer.head())
    home.shareLog(longer)
    await command('contributors', 'register', '--node-id', 'n3', '--name', 'Cy', '--role', 'curator')
    await home.checkpoint()
    home.shareLog(log)
    await command('integrity', '--accept-loss', '--reason', 'restored a backup')
  },
  'identity rotate': async () => {
    await command('identity', 'rotate', '--reason', 'yearly change')
    await command('learn', 'run')
  },
}

const checkVenue = async (): Promise<void> => {
  const steps = {
    quantityStep: quantityFrom(0.001),
    quantityMin: quantityFrom(0.001),
    notionalMin: usdFrom(5),
    priceStep: priceFrom(0.01),
  }
  const check = {
    venue: VENUE,
    checks: [{ name: 'reachable', ok: true, detail: 'it answers' }],
    restingStops: false,
    symbols: SYMBOLS.map((symbol) => ({ symbol, steps })),
  } as const
  await server.engine.execute({ kind: 'record-venue-check', check })
  const quotes = SYMBOLS.map((symbol) => ({ symbol, price: priceFrom(100) }))
  await server.engine.execute({ kind: 'record-venue-quotes', quotes: { venue: VENUE, quotes } })
}
