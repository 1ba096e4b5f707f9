import type { ServerResponse } from 'node:http'

/** Time within which a client must receive a whole response. It is enough for a large response over a slow line. */
export const TAKE_MS_MAX = 300_000

/**
 * Disconnects a client that has not received its response in time. A client that does not read would keep its
 * connection and the response buffered forever, and some endpoints are public.
 */
export const cutUnread = (response: ServerResponse, withinMs = TAKE_MS_MAX): void => {
  // The response of a disconnected client emits no further `close`: the timer would hold it until the limit.
  if (response.destroyed) return
  const cut = setTimeout(() => response.req.socket.destroy(), withinMs).unref()
  response.once('close', () => clearTimeout(cut))
}
