import type { ToTab, ToWorker } from './messages.ts'
import { openStream, type Stream, type StreamHandlers } from './stream.ts'

interface TabHandlers extends Omit<StreamHandlers, 'onReceived'> {
  readonly onReceived: (msAgo: number) => void
}

export type TabStream = Pick<Stream, 'reconnect'>

/** The event stream of the browser, which all tabs share. */
export const connect = (handlers: TabHandlers): TabStream =>
  typeof SharedWorker === 'undefined' ? openWhileVisible(handlers) : joinSharedStream(handlers)

const joinSharedStream = (handlers: TabHandlers): TabStream => {
  const worker = new SharedWorker(new URL('stream-worker.ts', import.meta.url), {
    type: 'module',
    name: 'stream',
  })
  const { port } = worker
  let own: TabStream | null = null
  const ask = (request: ToWorker): void => port.postMessage(request)
  port.addEventListener('message', ({ data }: MessageEvent<ToTab>) => take(data, handlers))
  port.start()
  // The worker could not be loaded, for example because the service was updated: the tab helps itself.
  worker.addEventListener('error', () => {
    own ??= openWhileVisible(handlers)
  })
  document.addEventListener('visibilitychange', () => ask('wake'))
  addEventListener('pagehide', () => ask('leave'))
  // Back from the history: what happened meanwhile is not known.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload()
  })
  return { reconnect: () => (own === null ? ask('reconnect') : own.reconnect()) }
}

const take = (message: ToTab, handlers: TabHandlers): void => {
  switch (message.kind) {
    case 'position':
      return handlers.onPosition()
    case 'events':
      return handlers.onEvents(message.events)
    case 'status':
      return handlers.onStatus(message.status)
    case 'received':
      return handlers.onReceived(message.msAgo)
  }
}

/** Browsers without shared workers are those of phones, which show one tab: only that one holds a stream. */
const openWhileVisible = (handlers: TabHandlers): TabStream => {
  const open = (): Stream => openStream({ ...handlers, onReceived: () => handlers.onReceived(0) })
  let stream = document.hidden ? null : open()
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      stream?.close()
      stream = null
      handlers.onStatus('reconnecting')
    } else {
      stream ??= open()
    }
  })
  return { reconnect: () => stream?.reconnect() }
}
