import { stampedFrom, EMPTY_HEAD, headOf, type Head, type LogRecord } from '../../../src/core/log/event.ts'
import { evolve, INITIAL_STATE, type State } from '../../../src/core/state.ts'
import { encodeState } from '../../../src/core/state-codec.ts'
import { openPositionsOf } from '../../../src/core/trading/positions/book.ts'
import { isOpen, type Position } from '../../../src/core/trading/positions/positions.ts'
import { sha256Hex } from '../../../src/engine/sha256.ts'
import { chainFaultOf } from '../../../src/ports/event-log.ts'
import type { World } from './world.fixture.ts'

/** Stored members of an order. */
export interface SubmittedOrder {
  readonly isExit: boolean
  readonly reason: string | null
  readonly venue: string
}

/** Event types whose payloads are printed in a trace. */
const EXPLAINED = [
  'execution.order',
  'execution.position',
  'execution.venue_differs',
  'execution.reduce',
  'alert.',
]

/** The members that the auditor reads are plain values. */
type Payload = Readonly<Record<string, string | number | boolean | null | undefined>>

/**
 * Reads the stored records after every step, and checks them against the invariants of the engine. The numbers are
 * those of the engine's own list.
 */
export class Auditor {
  state: State = INITIAL_STATE
  head: Head = EMPTY_HEAD
  /** Time of the last recorded fill. The venue's charges for the position are read after that. */
  filledMs = 0
  /** Orders by client order id. */
  readonly submitted = new Map<string, SubmittedOrder>()
  readonly #world: World
  readonly #forbidden: string
  readonly #ids = new Set<string>()
  readonly #keys = new Set<string>()
  readonly #trades = new Set<string>()
  readonly #cycles = new Set<string>()
  readonly #closed = new Set<string>()
  readonly #ends = new Map<string, number>()
  readonly #approved = new Set<string>()
  readonly #awaiting = new Set<string>()

  constructor(world: World, forbidden: string) {
    this.#world = world
    this.#forbidden = forbidden
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** Reads the new records, and checks the state after each batch. */
  read(records: readonly LogRecord[]): void {
    for (let index = this.head.seq; index < records.length; index += 1) {
      const record = records[index] as LogRecord
      const before = this.state
      this.#check(record)
      this.state = evolve(this.state, stampedFrom(record))
      this.head = headOf(record)
      this.#judge(before, record.type, JSON.parse(record.payload) as Payload)
      if (record.batchSignature !== null) this.#judgeBatch()
    }
  }

  /** 1: the state of a process equals the fold of its log. */
  compareState(state: State, whose: string): void {
    // Encoding both states costs more than a hundred steps, so only some of the starts are compared.
    if (state.seq !== this.state.seq || !this.#world.random('auditor').happens(0.25)) return
    this.#expect(encodeState(state) === encodeState(this.state), `1: the state of ${whose} is not the fold`)
    this.#world.count('states compared')
  }

  #expect(holds: boolean, promise: string): void {
    this.#world.expect(holds, promise)
  }

  /** 3, 21: the chain is valid, and no id or key is used twice. */
  #check(record: LogRecord): void {
    const fault = chainFaultOf(this.head, record, sha256Hex)
    this.#expect(fault === null, `3: ${fault?.detail}`)
    this.#expect(!this.#ids.has(record.id), `event ${record.seq} has the id of another`)
    this.#ids.add(record.id)
    const { dedupeKey } = record
    this.#expect(dedupeKey === null || !this.#keys.has(dedupeKey), `21: the key ${dedupeKey} is stored twice`)
    if (dedupeKey !== null) this.#keys.add(dedupeKey)
    this.#world.note(`  ${record.seq} ${record.type} ${record.hash.slice(0, 8)}`)
    if (EXPLAINED.some((prefix) => record.type.startsWith(prefix))) this.#world.explain(() => record.payload)
  }

  #judge(before: State, type: string, payload: Payload): void {
    const { level } = before.trading.killSwitch
    this.#world.count(`event ${type}`)
    switch (type) {
      case 'system.kill_switch.v1': {
        const isLower = Number(payload['level']) < Number(payload['prev_level'])
        this.#expect(!isLower || payload['reset_by'] !== undefined, '4: the level fell by itself')
        return
      }
      case 'execution.trade_intent.v1':
        if (payload['status'] === 'awaiting_approval') this.#awaiting.add(String(payload['cycle_id']))
        return
      case 'execution.intent_approved.v1':
        this.#approved.add(String(payload['intent_id']))
        return
      case 'execution.order_submitted.v1':
        return this.#judgeOrder(before, level, payload)
      case 'execution.order_filled.v1': {
        const trade = String(payload['venue_trade_id'])
        this.#expect(!this.#trades.has(trade), `20: trade ${trade} is recorded twice`)
        this.#trades.add(trade)
        this.filledMs = this.#world.nowMs
        if (Number(payload['remaining_size']) === 0) this.#countEnd(payload)
        return
      }
      case 'execution.order_canceled.v1':
      case 'execution.order_failed.v1':
        return this.#countEnd(payload)
      case 'execution.position_closed.v1': {
        const id = String(payload['position_id'])
        this.#expect(!this.#closed.has(id), `11: position ${id} is closed twice`)
        this.#closed.add(id)
        return
      }
      case 'brain.cycle.v1': {
        const id = String(payload['cycle_id'])
        this.#expect(!this.#cycles.has(id), `cycle ${id} ran twice`)
        this.#cycles.add(id)
        return
      }
      case 'market.bar.v1':
        if (payload['backfill'] !== true) this.#judgeStops(before, level, payload)
    }
  }

  #judgeOrder(before: State, level: number, payload: Payload): void {
    const isExit = payload['reduce_only'] === true
    const reason = typeof payload['exit_reason'] === 'string' ? payload['exit_reason'] : null
    this.submitted.set(String(payload['idempotency_key']), {
      isExit,
      reason,
      venue: String(payload['venue']),
    })
    if (isExit) {
      this.#expect(level < 3 || reason === 'manual', '5: an exit of its own at level 3')
      return
    }
    this.#expect(level < 2, `5: an entry at level ${level}`)
    this.#expect(payload['symbol'] !== this.#forbidden, '8: an entry in a forbidden symbol')
    const id = String(payload['intent_id'])
    const intent = before.trading.intents.get(id as never)
    const needsApproval = intent !== undefined && this.#awaiting.has(intent.intent.cycle_id)
    this.#expect(
      !needsApproval || intent.intent.status !== 'awaiting_approval' || this.#approved.has(id),
      '19: an order without the approval it waits for',
    )
    this.#expect((intent?.intent.valid_until ?? '') >= before.decidedAt, '18: an order after its time')
  }

  /** 18: an intent ends once. */
  #countEnd(payload: Payload): void {
    const id = payload['intent_id']
    if (typeof id !== 'string') return
    const ends = (this.#ends.get(id) ?? 0) + 1
    this.#ends.set(id, ends)
    this.#expect(ends === 1, `18: intent ${id} ended ${ends} times`)
  }

  /** 5: kept until the batch ends. By then the positions that this bar stops out are being closed. */
  #judgeStops(before: State, level: number, bar: Payload): void {
    if (level >= 3) return
    for (const position of openPositionsOf(before.trading)) {
      const { id, terms, holding, status } = position
      if (terms.asset !== bar['symbol'] || holding.stopLoss === null || status === 'closing') continue
      if (terms.openedAt > String(bar['open_ts'])) continue
      const stop = Number(holding.stopLoss) / 1e8
      const isHit = terms.direction === 'long' ? Number(bar['low']) <= stop : Number(bar['high']) >= stop
      if (isHit) this.#mustLeave.add(id)
    }
  }

  readonly #mustLeave = new Set<Position['id']>()

  #judgeBatch(): void {
    const { trading } = this.state
    for (const id of this.#mustLeave) {
      const position = trading.positions.get(id)
      const isLeaving = position === undefined || position.status === 'closing' || !isOpen(position)
      this.#expect(
        isLeaving || trading.killSwitch.level === 3,
        `5: the stop of ${id} was hit and nothing happened`,
      )
      this.#world.count('stops hit in bars')
    }
    this.#mustLeave.clear()
    this.#judgeMoney()
  }

  /** 10, 11: the account adds up exactly, and stop and target are on their sides of the entry price. */
  #judgeMoney(): void {
    const { trading } = this.state
    const { ledger, book } = trading
    const open = openPositionsOf(trading)
    let equity = (ledger.startBalance as bigint) + ledger.moved + ledger.realized
    let unrealized = 0n
    for (const { holding, mark, terms } of open) {
      equity += mark.unrealized - holding.fees - holding.funding
      unrealized += mark.unrealized
      const [low, high] =
        terms.direction === 'long'
          ? [holding.stopLoss, holding.takeProfit]
          : [holding.takeProfit, holding.stopLoss]
      const isBetween =
        (low === null || low < holding.entryPrice) && (high === null || high > holding.entryPrice)
      this.#expect(isBetween, `11: the levels of ${terms.asset} are on the wrong side`)
    }
    this.#expect(book.unrealized === unrealized, '10: the book is not the sum of its positions')
    this.#expect(
      equity === (ledger.cash as bigint) + book.unrealized,
      `10: equity is off by ${(ledger.cash as bigint) + book.unrealized - equity}`,
    )
    this.#expect(ledger.fees >= 0n, '10: fees below zero')
  }
}
