import type { ToTab, ToWorker } from './messages.ts'
import { openStream, type StreamStatus } from './stream.ts'

/**
 * Holds the one stream of all tabs: a browser opens six connections to a host, so a stream per tab would leave none for
 * the seventh tab, nor for any request of the others.
 */
const tabs = new Set<MessagePort>()
let status: StreamStatus = 'connecting'
let hasPosition = false
let receivedAtMs: number | null = null

const send = (message: ToTab): void => {
  for (const port of tabs) port.postMessage(message)
}

const stream = openStream({
  onPosition: () => {
    if (hasPosition) return
    hasPosition = true
    send({ kind: 'position' })
  },
  onEvents: (events) => send({ kind: 'events', events }),
  onStatus: (next) => {
    status = next
    send({ kind: 'status', status })
  },
  onReceived: () => {
    receivedAtMs = performance.now()
    send({ kind: 'received', msAgo: 0 })
  },
})

/** A new tab first learns how things are; it gets the events from then on. */
const welcome = (port: MessagePort): void => {
  const facts: readonly ToTab[] = [
    ...(receivedAtMs === null
      ? []
      : [{ kind: 'received' as const, msAgo: performance.now() - receivedAtMs }]),
    { kind: 'status', status },
    ...(hasPosition ? [{ kind: 'position' as const }] : []),
  ]
  for (const fact of facts) port.postMessage(fact)
  tabs.add(port)
  // A tab that opens is a reason not to wait for the next attempt.
  stream.wake()
}

const onRequest = (tab: MessagePort, request: ToWorker): void => {
  switch (request) {
    case 'reconnect':
      return stream.reconnect()
    case 'wake':
      return stream.wake()
    case 'leave':
      tabs.delete(tab)
  }
}

addEventListener('connect', (event) => {
  const [tab] = (event as MessageEvent).ports
  if (tab === undefined) return
  tab.addEventListener('message', ({ data }: MessageEvent<ToWorker>) => onRequest(tab, data))
  tab.start()
  welcome(tab)
})
