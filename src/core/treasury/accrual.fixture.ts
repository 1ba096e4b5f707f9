import { usdFrom } from '../shared/money.ts'
import { positionId, accrualId } from '../shared/brand.ts'
import { testContext } from '../../../test/given.fixture.ts'
import type { Command } from '../decide.ts'
import type { Configuration } from '../config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import { TradingScenario } from '../trading/trading.fixture.ts'
import type { NewPayload, PayloadOf } from '../events/catalogue.ts'
import { accrualEvent, type Profit } from './accrue.ts'
import type { SettlementStatus } from './settle.ts'

export const ADDRESS = '0xabc'
export const WALLET = { address: ADDRESS, percentage: 0.005 }
export const rules = (changes: Partial<Configuration['karma']> = {}): Configuration['karma'] => ({
  ...DEFAULT_CONFIGURATION.karma,
  treasury_address: ADDRESS,
  ...changes,
})

/** A close that is an event only, without a trade. */
export const profit = (changes: Partial<Profit> = {}): Profit => ({
  positionId: positionId('p1'),
  realized: usdFrom(49.095165),
  mode: 'paper',
  contributors: [],
  ...changes,
})

export const recordAccrual = (scenario: TradingScenario, changes: Partial<Profit>): string => {
  const payload = accrualEvent(profit(changes), WALLET, { ...testContext(), now: scenario.now })?.payload
  if (payload === undefined) throw new Error('nothing is owed')
  scenario.record({
    type: 'karma.intent.v1',
    source: 'karma',
    payload: payload as NewPayload<'karma.intent.v1'>,
  })
  return (payload as NewPayload<'karma.intent.v1'>).intent_id
}

export const settle = (
  ids: readonly string[],
  txHash: string | null = null,
  status: SettlementStatus = { isRepeated: false, settledIds: [] },
): Command => ({
  kind: 'settle-shares',
  request: { intentIds: ids.map((id) => accrualId(id)), txHash },
  status,
})

/** Receipts of the settlements in a scenario. */
export const receiptsOf = ({ state }: TradingScenario): readonly PayloadOf<'karma.receipt.v1'>[] =>
  [...state.treasury.receipts.values()].map(({ receipt }) => receipt)

export const scenarioWith = (changes: Partial<Configuration['karma']> = {}): TradingScenario =>
  new TradingScenario({ karma: rules(changes) })
