/**
 * Preloaded into a service with `NODE_OPTIONS=--import`: its wall clock is off by the milliseconds in a file, which a
 * test writes while the service runs. Timers and the monotonic clock are what they are.
 */
import { readFileSync } from 'node:fs'

const RealDate = globalThis.Date
const realNow = RealDate.now
const file = process.env['TEST_CLOCK_FILE']
const readOffset = () => Number(readFileSync(file, 'utf8'))

let offsetMs = readOffset()
setInterval(() => {
  offsetMs = readOffset()
}, 50).unref()

const now = () => realNow() + offsetMs
globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [now()] : given))
  }
  static now() {
    return now()
  }
}
