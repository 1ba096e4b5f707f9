import type { ServerResponse } from 'node:http'

/** A whole response is taken within this time, also a large one over a slow line. */
export const TAKE_MS_MAX = 300_000

/**
 * Cuts a client that has not taken its response by then. One that does not read would keep its connection, and what waits
 * for it, forever; some of it is public.
 */
export const cutUnread = (response: ServerResponse, withinMs = TAKE_MS_MAX): void => {
  // It emits `close` no more: the response of a client that is gone would be held until then.
  if (response.destroyed) return
  const cut = setTimeout(() => response.req.socket.destroy(), withinMs).unref()
  response.once('close', () => clearTimeout(cut))
}
