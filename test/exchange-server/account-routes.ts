import type { Holding } from './account.ts'
import { textOf } from './decimals.ts'
import { leverageOf, marginModeOf, setLeverage, setMarginMode } from './matching.ts'
import { perpetualOf, type SignedRoute } from './order-routes.ts'
import { marketPriceOf, exchangeNow, type ExchangeState } from './exchange-state.ts'

const FUTURES = 'fapi.binance.com/fapi'

export const ACCOUNT_ROUTES: readonly SignedRoute[] = [
  {
    method: 'GET',
    path: `${FUTURES}/v3/positionRisk`,
    // The newer version does not report the leverage.
    answer: (world) => positionsOf(world).map((position) => ({ ...position, leverage: undefined })),
  },
  {
    method: 'GET',
    path: `${FUTURES}/v2/positionRisk`,
    answer: (world) => positionsOf(world).map((position) => ({ ...position, marginType: 'cross' })),
  },
  { method: 'GET', path: `${FUTURES}/v3/account`, answer: (world) => accountOf(world) },
  {
    method: 'GET',
    path: `${FUTURES}/v2/account`,
    answer: (world) => ({ ...accountOf(world), canTrade: world.account.mayTrade }),
  },
  {
    method: 'GET',
    path: `${FUTURES}/v1/leverageBracket`,
    answer: ({ perpetuals }) =>
      perpetuals.map((base) => ({
        symbol: `${base}USDT`,
        brackets: [
          {
            bracket: 1,
            initialLeverage: 125,
            notionalCap: 50_000,
            notionalFloor: 0,
            maintMarginRatio: 0.004,
            cum: 0,
          },
        ],
      })),
  },
  {
    method: 'POST',
    path: `${FUTURES}/v1/leverage`,
    answer: (world, query) => {
      const base = perpetualOf(world, query)
      const leverage = Number(query.get('leverage'))
      setLeverage(world, base, leverage)
      return { leverage, maxNotionalValue: '1000000', symbol: `${base}USDT` }
    },
  },
  {
    method: 'GET',
    path: `${FUTURES}/v1/symbolConfig`,
    answer: (world, query) => {
      const bases = query.has('symbol') ? [perpetualOf(world, query)] : world.perpetuals
      return bases.map((base) => ({
        symbol: `${base}USDT`,
        marginType: marginModeOf(world.account, base) === 'cross' ? 'CROSSED' : 'ISOLATED',
        isAutoAddMargin: false,
        leverage: Number(leverageOf(world.account, base)),
        maxNotionalValue: '1000000',
      }))
    },
  },
  {
    method: 'POST',
    path: `${FUTURES}/v1/marginType`,
    answer: (world, query) => {
      const base = perpetualOf(world, query)
      setMarginMode(world, base, query.get('marginType') === 'CROSSED' ? 'cross' : 'isolated')
      return { code: 200, msg: 'success' }
    },
  },
  {
    method: 'GET',
    path: `${FUTURES}/v1/income`,
    answer: ({ account }, query) =>
      account.fundings
        .filter(({ atMs }) => atMs >= Number(query.get('startTime') ?? 0))
        .slice(0, Number(query.get('limit') ?? 100))
        .map(({ id, base, income, atMs }) => ({
          symbol: `${base}USDT`,
          incomeType: query.get('incomeType'),
          income: textOf(income),
          asset: 'USDT',
          info: query.get('incomeType'),
          time: atMs,
          tranId: id,
          tradeId: '',
        })),
  },
  {
    method: 'GET',
    path: `${FUTURES}/v1/positionSide/dual`,
    answer: ({ account }) => ({ dualSidePosition: account.isHedged }),
  },
  {
    method: 'GET',
    path: 'api.binance.com/sapi/v1/account/apiRestrictions',
    answer: ({ account }) => ({
      ipRestrict: true,
      createTime: 1_600_000_000_000,
      enableReading: true,
      enableFutures: account.mayTrade,
      enableSpotAndMarginTrading: false,
      enableWithdrawals: account.mayWithdraw,
      permitsUniversalTransfer: false,
    }),
  },
]

/** Charges the share to every holder of the perpetual. Holders of the other side receive it. */
export const chargeFunding = (world: ExchangeState, base: string, share: number): void => {
  const { account } = world
  const { quantity } = account.holdings.get(base) ?? { quantity: 0n }
  if (quantity === 0n) return
  const notional = (quantity * marketPriceOf(world, base)) / 100_000_000n
  const income = (-notional * BigInt(Math.round(share * 100_000_000))) / 100_000_000n
  account.wallet += income
  account.fundings.push({ id: 9000 + account.fundings.length, base, income, atMs: exchangeNow(world) })
}

/** Equity of the account: money plus the unrealized profit of open positions. */
export const equityOf = (world: ExchangeState): bigint =>
  [...world.account.holdings].reduce(
    (sum, [base, holding]) => sum + unrealizedOf(world, base, holding),
    world.account.wallet,
  )

export const unrealizedOf = (world: ExchangeState, base: string, { quantity, cost }: Holding): bigint =>
  (quantity * marketPriceOf(world, base) - cost) / 100_000_000n

const positionsOf = (world: ExchangeState) =>
  [...world.account.holdings]
    .filter(([, { quantity }]) => quantity !== 0n)
    .map(([base, holding]) => {
      const notional = (holding.quantity * marketPriceOf(world, base)) / 100_000_000n
      const leverage = leverageOf(world.account, base)
      const margin = textOf((notional < 0n ? -notional : notional) / leverage)
      return {
        symbol: `${base}USDT`,
        positionSide: 'BOTH',
        positionAmt: textOf(holding.quantity),
        entryPrice: textOf(holding.cost / holding.quantity),
        breakEvenPrice: textOf(holding.cost / holding.quantity),
        markPrice: textOf(marketPriceOf(world, base)),
        unRealizedProfit: textOf(unrealizedOf(world, base, holding)),
        liquidationPrice: '0',
        isolatedMargin: '0',
        notional: textOf(notional),
        marginAsset: 'USDT',
        isolatedWallet: '0',
        initialMargin: margin,
        maintMargin: textOf((notional < 0n ? -notional : notional) / 250n),
        positionInitialMargin: margin,
        openOrderInitialMargin: '0',
        leverage: String(leverage),
        adl: 2,
        updateTime: exchangeNow(world),
      }
    })

const accountOf = (world: ExchangeState) => {
  const { wallet } = world.account
  const equity = textOf(equityOf(world))
  return {
    totalWalletBalance: textOf(wallet),
    totalUnrealizedProfit: textOf(equityOf(world) - wallet),
    totalMarginBalance: equity,
    availableBalance: equity,
    assets: [
      {
        asset: 'USDT',
        walletBalance: textOf(wallet),
        unrealizedProfit: textOf(equityOf(world) - wallet),
        marginBalance: equity,
        maintMargin: '0.00000000',
        initialMargin: '0.00000000',
        availableBalance: equity,
        updateTime: exchangeNow(world),
      },
      { asset: 'BNB', walletBalance: '1.5', marginBalance: '1.5', availableBalance: '1.5', updateTime: 1 },
    ],
    positions: [],
  }
}
