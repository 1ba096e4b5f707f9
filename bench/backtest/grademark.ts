import { createRequire } from 'node:module'
import type * as DataForge from 'data-forge'
import type * as Grademark from 'grademark'
import type { FeedBar } from '../../src/core/market/bar.ts'

const require = createRequire(import.meta.url)
// Loaded with `require`: an import does not find the names of these CommonJS packages.
const { backtest } = require('grademark') as typeof Grademark
const { DataFrame } = require('data-forge') as typeof DataForge

/** A trade in the form that both sides have in common. */
export interface PlainTrade {
  readonly openedMs: number
  readonly closedMs: number
  readonly entry: number
  readonly exit: number
}

export interface PeerBar {
  readonly time: Date
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

interface Averaged extends PeerBar {
  readonly isAbove: boolean
  readonly isBelow: boolean
  readonly wasAbove: boolean
}

export const peerBarsOf = (minutes: readonly (readonly FeedBar[])[]): readonly PeerBar[] =>
  minutes.flatMap(([bar]) => {
    if (bar === undefined) return []
    const { open, high, low, close, volume } = bar
    return [{ time: new Date(bar.open_ts), open, high, low, close, volume }]
  })

const [FAST, SLOW] = [10, 50]

/**
 * The long side of our rule, entered one bar after the cross, because ours closes the short first. The averages are
 * computed in plain loops, which is the fastest way that the library allows.
 */
export const peerTrades = (bars: readonly PeerBar[]): readonly PlainTrade[] => {
  const closes = bars.map(({ close }) => close)
  let before = false
  const averaged = bars.map((bar, index): Averaged => {
    const isKnown = index >= SLOW - 1
    const [fast, slow] = isKnown ? [meanUpTo(closes, index, FAST), meanUpTo(closes, index, SLOW)] : [0, 0]
    const wasAbove = before
    before = fast > slow
    return { ...bar, isAbove: before, isBelow: fast < slow, wasAbove }
  })
  const trades = backtest<PeerBar, Averaged, object, number>(
    {
      prepIndicators: () => new DataFrame<number, Averaged>(averaged),
      entryRule: (enter, { bar }) => {
        if (bar.isAbove && bar.wasAbove) enter()
      },
      exitRule: (exit, { bar }) => {
        if (bar.isBelow) exit()
      },
    },
    new DataFrame<number, PeerBar>([...bars]),
  )
  return trades
    .filter(({ exitReason }) => exitReason === 'exit-rule')
    .map(({ entryTime, exitTime, entryPrice, exitPrice }) => ({
      openedMs: entryTime.getTime(),
      closedMs: exitTime.getTime(),
      entry: entryPrice,
      exit: exitPrice,
    }))
}

const meanUpTo = (values: readonly number[], index: number, count: number): number => {
  let sum = 0
  for (let at = index - count + 1; at <= index; at += 1) sum += values[at] ?? 0
  return sum / count
}
