/** A venue in a process of its own, so that it outlives whoever trades at it: `venue-process.ts <perpetual> …`. */
import { startVenue } from './venue.ts'

const perpetuals = process.argv.slice(2)
const venue = await startVenue({ now: Date.now, ...(perpetuals.length > 0 ? { perpetuals } : {}) })
const { apiKey, secret } = venue.world.account
process.stdout.write(`${JSON.stringify({ baseUrl: venue.baseUrl, apiKey, secret })}\n`)
// Whoever began it holds the other end: when that is gone, nobody needs the venue any more.
process.stdin.resume()
process.stdin.on('close', () => process.exit(0))
