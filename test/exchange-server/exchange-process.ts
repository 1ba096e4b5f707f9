/**
 * A venue in a process of its own, so that it outlives the engines that trade at it: `venue-process.ts <options as
 * JSON>`.
 */
import { fastNow } from './fast-time.ts'
import type { RemoteExchangeOptions } from './remote-exchange.ts'
import { startExchangeServer } from './exchange-server.ts'

const { perpetuals, pace } = JSON.parse(process.argv[2] ?? '{}') as RemoteExchangeOptions
const venue = await startExchangeServer({
  now: pace === undefined ? Date.now : () => fastNow(pace),
  ...(perpetuals === undefined ? {} : { perpetuals }),
})
const { apiKey, secret } = venue.world.account
process.stdout.write(`${JSON.stringify({ baseUrl: venue.baseUrl, apiKey, secret })}\n`)
// Ends with the process that started it.
process.stdin.resume()
process.stdin.on('close', () => process.exit(0))
