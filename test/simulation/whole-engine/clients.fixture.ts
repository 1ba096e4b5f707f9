import type { Command } from '../../../src/core/decide.ts'
import { nodeId } from '../../../src/core/shared/brand.ts'
import type { KillSwitchLevel } from '../../../src/core/shared/level.ts'
import type { State } from '../../../src/core/state.ts'
import { openPositionsOf } from '../../../src/core/trading/positions/book.ts'
import type { Auditor } from './auditor.fixture.ts'
import { isExpected, type SimulatedProcess } from './process.fixture.ts'
import type { World } from './world.fixture.ts'

const OPERATOR = { operator: 'op', surface: 'cli' } as const

/** Users and programs that send commands to any running process. */
export class Clients {
  readonly #world: World
  readonly #auditor: Auditor
  readonly #processes: () => readonly SimulatedProcess[]
  readonly #symbols: readonly string[]
  #submissions = 0
  /** Submissions with an unknown outcome. They are sent again, under the same key. */
  readonly #unanswered: Command[] = []

  constructor(
    world: World,
    auditor: Auditor,
    symbols: readonly string[],
    processes: () => readonly SimulatedProcess[],
  ) {
    this.#world = world
    this.#auditor = auditor
    this.#symbols = symbols
    this.#processes = processes
  }

  /** Sends commands from time to time, without end. */
  begin(): void {
    const delayMs = 500 + this.#world.random('clients').below(6000)
    this.#world.schedule(delayMs, 'a client', null, () => {
      if (!this.#world.isCalm) this.#act()
      this.begin()
    })
  }

  /** Executes the command in a process, if there is one, and compares the answer with the log. */
  send(command: Command, onAnswer: (isDone: boolean) => void = () => undefined): boolean {
    const world = this.#world
    const open = this.#processes().filter(({ isOver, engine }) => !isOver && engine !== null)
    const process = open[world.random('clients').below(Math.max(1, open.length))]
    if (process?.engine === undefined || process.engine === null) return false
    world.note(`a client sends ${command.kind} to ${process.name}`)
    process.engine.execute(command).then(
      (outcome) => {
        if (process.isOver) return
        world.count(`client ${command.kind} ${outcome.status}`)
        if (outcome.status === 'done') {
          for (const { id } of outcome.events)
            world.expect(this.#auditor.has(id), `${command.kind} was acknowledged and is not stored`)
        }
        onAnswer(true)
      },
      (error: unknown) => {
        if (!isExpected(error)) world.fail(error)
        world.count('client errors')
        onAnswer(false)
      },
    )
    return true
  }

  setLevel(level: KillSwitchLevel): void {
    this.send({ kind: 'set-kill-switch', move: { level, reason: 'simulated', ...OPERATOR } })
  }

  closeAll(): void {
    this.send({ kind: 'close-all', by: OPERATOR })
  }

  resume(): void {
    if (this.#auditor.state.trading.venue.reduceOnly !== null)
      this.send({ kind: 'resume-live', reason: 'simulated', ...OPERATOR })
  }

  /** Denies all intents that wait for an approval. */
  denyAll(): void {
    for (const { id, status } of this.#auditor.state.trading.intents.values())
      if (status === 'awaiting_approval')
        this.send({ kind: 'deny-intent', decision: { intentId: id, note: null, ...OPERATOR } })
  }

  #act(): void {
    const random = this.#world.random('clients')
    const { state } = this.#auditor
    const { level } = state.trading.killSwitch
    const draw = random.below(100)
    if (draw < 40) this.#propose()
    else if (draw < 65) this.#submit()
    else if (draw < 75) this.#decideIntent(state)
    else if (draw < 82) this.#close(state)
    else if (draw < 84) this.closeAll()
    else if (draw < 87) this.setLevel(random.below(4) as KillSwitchLevel)
    else if (draw < 94 && level > 0) this.setLevel(0)
    else if (draw < 96) this.#cancel(state)
    else if (draw < 98) this.resume()
    else this.send({ kind: 'run-cycle', cycleId: `asked-${this.#world.steps}`, trigger: 'api' })
  }

  #symbol(): string {
    const random = this.#world.random('clients')
    return this.#symbols[random.below(this.#symbols.length)] ?? ''
  }

  #propose(): void {
    const direction = this.#world.random('clients').happens(0.5) ? 'long' : 'short'
    const proposal = { rule: 'simulated', symbol: this.#symbol(), direction, conviction: 70 } as const
    this.send({ kind: 'propose-trade', proposal })
  }

  /** Repeats unanswered submissions before it sends a new one. */
  #submit(): void {
    const random = this.#world.random('clients')
    const repeated = this.#unanswered.shift()
    if (repeated !== undefined) this.#world.count('submissions repeated')
    this.#submissions += 1
    const command: Command = repeated ?? {
      kind: 'submit-signal',
      submission: {
        eventType: 'signal.curator.v1',
        nodeId: nodeId(`curator-${random.below(3)}`),
        ts: null,
        source: null,
        payload: {
          symbol: this.#symbol(),
          direction: random.happens(0.5) ? 'bullish' : 'bearish',
          conviction: 5 + random.below(6),
          rationale: 'simulated',
        },
        dedupeKey: `submission-${this.#submissions}`,
      },
    }
    const isSent = this.send(command, (isDone) => {
      if (!isDone) this.#unanswered.push(command)
    })
    if (!isSent) this.#unanswered.push(command)
  }

  #decideIntent(state: State): void {
    const waiting = [...state.trading.intents.values()].find(({ status }) => status === 'awaiting_approval')
    if (waiting === undefined) return
    const decision = { intentId: waiting.id, note: null, ...OPERATOR }
    const isApproved = this.#world.random('clients').happens(0.7)
    this.send({ kind: isApproved ? 'approve-intent' : 'deny-intent', decision })
  }

  #close(state: State): void {
    const open = openPositionsOf(state.trading)
    const position = open[this.#world.random('clients').below(Math.max(1, open.length))]
    if (position !== undefined) this.send({ kind: 'close-position', positionId: position.id, by: OPERATOR })
  }

  #cancel(state: State): void {
    const order = [...state.trading.orders.open.values()].find(({ purpose }) => purpose.kind === 'entry')
    if (order === undefined) return
    const request = { orderId: order.id, reason: null, ...OPERATOR }
    this.send({ kind: 'cancel-order', request })
  }
}
