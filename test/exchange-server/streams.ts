import type { ServerSocket } from './web-socket.ts'
import { priceAt, exchangeNow, type ExchangeState } from './exchange-state.ts'

/** Subscriptions of the sockets. */
export interface Streams {
  receive(socket: ServerSocket, text: string): void
  leave(socket: ServerSocket): void
  /** Sends the current prices to every subscriber. */
  tick(): void
  /** Names of the streams with subscribers. */
  names(): readonly string[]
  count(): number
  destroyAll(): void
}

export const createStreams = (world: ExchangeState): Streams => {
  const listening = new Map<ServerSocket, Set<string>>()
  return {
    receive: (socket, text) => {
      const { method, params, id } = JSON.parse(text) as Request
      const streams = listening.get(socket) ?? new Set()
      if (method === 'SUBSCRIBE') for (const name of params) streams.add(name)
      if (method === 'UNSUBSCRIBE') for (const name of params) streams.delete(name)
      listening.set(socket, streams)
      socket.send(JSON.stringify({ result: null, id }))
    },
    leave: (socket) => listening.delete(socket),
    tick: () => {
      if (world.areSocketsMute) return
      for (const [socket, streams] of listening) {
        const talking = [...streams].filter((name) => !world.muteStreams.has(name))
        for (const name of talking) socket.send(JSON.stringify(tickerOf(world, name)))
      }
    },
    names: () => [...listening.values()].flatMap((streams) => [...streams]).sort(),
    count: () => listening.size,
    destroyAll: () => {
      for (const socket of listening.keys()) socket.destroy()
    },
  }
}

interface Request {
  readonly method: string
  readonly params: readonly string[]
  readonly id: number
}

const tickerOf = (world: ExchangeState, name: string) => {
  const [market = '', channel] = name.split('@')
  const symbol = market.toUpperCase()
  const atMs = exchangeNow(world)
  const price = priceAt(symbol.replace(/USDT$/, ''), atMs).toFixed(4)
  const event = channel === 'miniTicker' ? '24hrMiniTicker' : '24hrTicker'
  return { e: event, E: atMs, s: symbol, c: price, v: '1', q: '1' }
}
