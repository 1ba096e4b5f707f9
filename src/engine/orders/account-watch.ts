import { differingSymbols, type AccountSweep } from '../../core/trading/account-sweep.ts'
import { PAPER } from '../../core/trading/venue-destination.ts'
import { openPositionsOf } from '../../core/trading/book.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import type { Broker } from '../../ports/broker.ts'
import type { Engine } from '../engine.ts'

export interface AccountWatchDependencies {
  readonly engine: Engine
  readonly broker: Broker
  readonly venue: string
  readonly symbols: () => readonly string[]
  /** Counts up with everything that is done in a symbol. */
  readonly activityIn: (symbol: string) => number
}

/** `differing`: in a way that has to be seen once more. */
export type SweepResult = 'agreed' | 'differing' | 'no-answer'

/** Holds the account at the venue against the log. A difference counts when it is seen twice. */
export class AccountWatch {
  readonly #parts: AccountWatchDependencies
  #seen: ReadonlySet<string> = new Set()

  constructor(parts: AccountWatchDependencies) {
    this.#parts = parts
  }

  async sweep(): Promise<SweepResult> {
    const { engine, broker, venue, activityIn } = this.#parts
    const before = new Map(this.#symbols().map((symbol) => [symbol, activityIn(symbol)]))
    const busy = this.#busySymbols()
    const account = await broker.account()
    if (account === null) return 'no-answer'
    for (const payment of account.fundings ?? []) {
      await engine.execute({ kind: 'record-funding', venue, payment })
    }
    const told = account.positions.map(({ symbol }) => canonicalSymbol(symbol))
    const quiet = [...new Set([...before.keys(), ...told])].filter(
      (symbol) => !busy.has(symbol) && (before.get(symbol) ?? 0) === activityIn(symbol),
    )
    const sweep: AccountSweep = {
      venue,
      positions: account.positions,
      liquidations: account.liquidations ?? [],
      quietSymbols: quiet,
    }
    const keys = differingSymbols(engine.state, sweep)
    const confirmed = keys.filter((key) => this.#seen.has(key)).map((key) => key.slice(0, key.indexOf('|')))
    const isNew = confirmed.length < keys.length
    this.#seen = new Set(keys)
    if (confirmed.length > 0) {
      await engine.execute({ kind: 'compare-account', sweep: { ...sweep, quietSymbols: confirmed } })
    }
    return isNew ? 'differing' : 'agreed'
  }

  #symbols(): readonly string[] {
    const held = openPositionsOf(this.#parts.engine.state.trading).map(({ terms }) => terms.asset)
    return [...new Set([...this.#parts.symbols(), ...held].map(canonicalSymbol))]
  }

  #busySymbols(): ReadonlySet<string> {
    const { open } = this.#parts.engine.state.trading.orders
    return new Set(
      [...open.values()].filter(({ venue }) => venue !== PAPER).map(({ symbol }) => canonicalSymbol(symbol)),
    )
  }
}
