import type { Configuration } from '../core/config/schema.ts'
import { liveBlockers } from '../core/trading/destination.ts'
import { openPositionsOf } from '../core/trading/book.ts'
import type { State } from '../core/state.ts'
import type { Engine } from '../engine/engine.ts'
import { isoNow } from '../engine/iso-now.ts'
import { OrderRouter } from '../engine/orders/order-router.ts'
import type { Logger } from '../ports/logger.ts'
import type { Timer } from '../ports/timer.ts'
import { openBroker } from './broker.ts'
import { opening, type Closers } from './closers.ts'
import type { Environment } from './environment.ts'

export interface TradingDependencies {
  readonly surroundings: Environment
  readonly engine: Engine
  readonly configuration: () => Configuration
  readonly logger: Logger
  readonly timer: Timer
  readonly onSecrets: (secrets: readonly string[]) => void
}

/** The venue of real orders, where there is one. Without it the service runs, sends nothing, and says why. */
export const openTrading = (parts: TradingDependencies): Promise<{ close(): Promise<void> }> =>
  opening(async (closers) => {
    const { surroundings, engine, configuration, logger, timer, onSecrets } = parts
    const current = configuration()
    const { venue, mode } = current.execution
    if (!isWanted(engine.state, current)) return nothingToClose(closers)
    if (venue === '') {
      logger.warn('execution.mode is live, but execution.venue names no venue: nothing is sent')
      return nothingToClose(closers)
    }
    const opened = await openBroker(surroundings, current, timer)
    if (opened.status === 'keys-missing') {
      logger.error(`nothing is sent to ${venue}: ${opened.reason}`)
      const checks = [{ name: 'keys', ok: false, detail: opened.reason }]
      await engine.execute({ kind: 'record-venue-check', check: { venue, checks, symbols: [] } })
      return nothingToClose(closers)
    }
    onSecrets(opened.secrets)
    closers.add(() => opened.broker.close())
    const desk = new OrderRouter({
      engine,
      broker: opened.broker,
      venue,
      timer,
      configuration,
      onError: (what, error) => logger.warn(what, error === undefined ? {} : { error }),
    })
    await desk.start()
    closers.add(() => desk.close())
    const now = isoNow(surroundings.clock)
    const blockers = liveBlockers(engine.state, { now, configuration: current })
    logger.warn(`orders at ${venue} are driven from here; mode is ${mode}`, { held_back_by: blockers })
    return { close: () => closers.closeAll() }
  })

/** Also when it is paper again: what is open at a venue has to be seen to its end. */
const isWanted = (state: State, { execution: { mode, venue } }: Configuration): boolean =>
  mode === 'live' ||
  (venue !== '' &&
    (state.trading.orders.open.some((order) => order.venue === venue) ||
      openPositionsOf(state.trading).some(({ terms }) => terms.platform === venue)))

const nothingToClose = (closers: Closers): { close(): Promise<void> } => ({ close: () => closers.closeAll() })
