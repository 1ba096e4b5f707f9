import { hash } from 'node:crypto'
import { openDrivers, type Drivers } from '../../../src/compose/drivers.ts'
import { configurationRecord } from '../../../src/core/config/recorded.ts'
import type { Configuration } from '../../../src/core/config/schema.ts'
import { foldingOf } from '../../../src/core/operations/decide.ts'
import { nodeId } from '../../../src/core/shared/brand.ts'
import { EngineClosedError, FencedError, QueueFullError } from '../../../src/engine/command-queue.ts'
import { Engine } from '../../../src/engine/engine.ts'
import { sha256Hex } from '../../../src/engine/sha256.ts'
import type { BrokerOrder } from '../../../src/ports/broker.ts'
import { StoreUnavailableError } from '../../../src/ports/event-log.ts'
import type { Logger } from '../../../src/ports/logger.ts'
import type { Signatures, SignedText } from '../../../src/ports/signatures.ts'
import type { Signer } from '../../../src/ports/signer.ts'
import type { Timer } from '../../../src/ports/timer.ts'
import type { LogServer } from './log-server.fixture.ts'
import { openSimulatedFeed, type Market } from './market.fixture.ts'
import { connectToVenue, type Ban } from './venue-connection.fixture.ts'
import type { Venue } from './venue.fixture.ts'
import { NEVER, type Owner, type World } from './world.fixture.ts'

/** Objects that all processes share and that outlive them. */
export interface SharedWorld {
  readonly world: World
  readonly server: LogServer
  readonly market: Market
  readonly venue: Venue
  readonly ban: Ban
  readonly configuration: Configuration
  readonly onSend: (process: SimulatedProcess, order: BrokerOrder) => void
  readonly onOpened: (engine: Engine) => void
}

/** The service within one process: the engine on its log, and the leading parts while it leads. */
export class SimulatedProcess implements Owner {
  readonly name: string
  isOver = false
  frozenUntilMs = 0
  engine: Engine | null = null
  readonly signer: Signer
  readonly #around: SharedWorld
  #drivers: Drivers | null = null
  #ids = 0
  readonly #life: number
  readonly #clockOffsetMs: number

  constructor(around: SharedWorld, node: number, life: number) {
    this.name = `node-${node}`
    this.#around = around
    this.#life = life
    this.#clockOffsetMs = around.world.clockOffsetMs
    this.signer = cheapSigner(node)
  }

  /** Opens everything, as the service does. A process whose store cannot be opened ends. */
  begin(): void {
    this.#open().catch((error: unknown) => {
      if (!isExpected(error)) this.#around.world.fail(error)
      this.end()
    })
  }

  /** Ends at once: nothing is closed, and no other process is notified. */
  end(): void {
    this.isOver = true
  }

  /** Stops as an operator would: everything is closed in order. */
  stop(): void {
    const { world } = this.#around
    const close = async (): Promise<void> => {
      await this.#drivers?.close()
      await this.engine?.close()
      world.note(`${this.name}: stopped`)
      world.count('processes stopped')
      this.end()
    }
    close().catch((error: unknown) => {
      if (!isExpected(error)) world.fail(error)
      this.end()
    })
  }

  async #open(): Promise<void> {
    const { world, server, market, venue, ban, configuration, onSend, onOpened } = this.#around
    const log = server.connect(this)
    const clock = { now: () => this.#nowMs(), newId: () => this.#newId() }
    const trust = { signatures: cheapSignatures, own: this.signer, firstHash: null }
    const engine = await Engine.open({
      log,
      signer: this.signer,
      clock,
      snapshotEveryEvents: 250,
      trust,
      isSigned: (item) => cheapSignatures.isSigned(item),
      onUnsigned: (records) => world.fail(new Error(`event ${records[0]?.seq} counts as unsigned`)),
      configuration: () => configuration,
      version: 'simulated',
      onError: (what, error) => this.#report(what, error),
    })
    await engine.execute({
      kind: 'start',
      started: {
        version: 'simulated',
        node_id: this.signer.nodeId,
        public_key: this.signer.publicKey,
        ephemeral: true,
        integrity: { ok: true, reason: null, first_bad_seq: null },
        checkpoint: null,
        folding: foldingOf(configuration),
        ...configurationRecord(configuration, sha256Hex),
      },
    })
    onOpened(engine)
    this.engine = engine
    world.count('processes started')
    this.#drivers = await openDrivers({
      environment: {
        home: '',
        variables: {},
        clock,
        time: { now: () => this.#nowMs(), wallNow: () => world.wallMs(), slew: () => undefined },
        version: 'simulated',
        insecureOk: false,
        devMode: false,
        masterPassword: undefined,
      },
      engine,
      configuration: () => configuration,
      logger: this.#logger(),
      timer: this.#timer(),
      leadership: server.leadershipOf(this),
      onSecrets: () => undefined,
      openFeed: (_configuration, timer) => openSimulatedFeed(world, market, timer),
      // Reading a real folder takes a varying time, which would make runs differ.
      findProducers: () => Promise.resolve([]),
      openBroker: (_environment, _configuration, _timer, maySend) =>
        Promise.resolve({
          status: 'open',
          secrets: [],
          broker: connectToVenue(
            {
              world,
              venue,
              market,
              owner: this,
              onSend: (order) => onSend(this, order),
              maySend: maySend ?? ALWAYS,
            },
            ban,
          ),
        }),
    })
  }

  /** The clock of the machine at its start, plus the time that has passed since. */
  #nowMs(): number {
    return Math.floor(this.#around.world.nowMs + this.#clockOffsetMs)
  }

  #timer(): Timer {
    const { world } = this.#around
    return {
      now: () => this.#nowMs(),
      wait: (ms, signal) => {
        if (this.isOver) return NEVER
        if (ms <= 0 || signal.aborted) return Promise.resolve()
        return new Promise((resolve) => {
          const end = (): void => {
            signal.removeEventListener('abort', end)
            resolve()
          }
          signal.addEventListener('abort', end)
          world.schedule(ms, 'wait', this, end)
        })
      },
    }
  }

  #logger(): Logger {
    const { world } = this.#around
    const say = (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
      world.note(`${this.name}: ${message}`)
      if ('error' in fields) this.#report(message, fields['error'])
    }
    return { debug: () => undefined, info: say, warn: say, error: say }
  }

  /** An unreachable store is expected here. Every other error is a fault of the engine. */
  #report(what: string, error: unknown): void {
    const { world } = this.#around
    if (isExpected(error)) world.count('errors reported')
    else world.fail(new Error(`${this.name}: ${what}`, { cause: error }))
  }

  /** Ids with the form and order of UUIDv7, identical in each run. */
  #newId(): string {
    this.#ids += 1
    const time = Math.floor(this.#around.world.nowMs).toString(16).padStart(12, '0')
    const [life, count] = [this.#life.toString(16).padStart(3, '0'), this.#ids.toString(16).padStart(7, '0')]
    return `${time.slice(0, 8)}-${time.slice(8)}-7${life}-8${count.slice(0, 3)}-${count.slice(3)}00000000`
  }
}

export const isExpected = (error: unknown): boolean =>
  error instanceof StoreUnavailableError ||
  error instanceof EngineClosedError ||
  error instanceof FencedError ||
  error instanceof QueueFullError

/**
 * Signatures that cost a hash instead of a curve. Each still belongs to one text and one key, so mixing up texts or
 * keys is found. Forgery is out of scope here.
 */
const cheapSignature = (publicKey: string, text: string): string =>
  hash('sha512', `${publicKey}|${text}`, 'hex')

const cheapSigner = (node: number): Signer => {
  const publicKey = hash('sha256', `node ${node}`, 'hex')
  return {
    nodeId: nodeId(`sim-${publicKey.slice(0, 16)}`),
    publicKey,
    ephemeral: true,
    sign: (text) => cheapSignature(publicKey, text),
    signAll: async (texts) => texts.map((text) => cheapSignature(publicKey, text)),
    close: () => Promise.resolve(),
  }
}

const isSigned = ({ text, signatureHex, publicKeyHex }: SignedText): boolean =>
  signatureHex === cheapSignature(publicKeyHex, text)

export const cheapSignatures: Signatures = {
  isSigned,
  verifyAll: async (items) => items.flatMap((item, index) => (isSigned(item) ? [] : [index])),
}

const ALWAYS = (): boolean => true
