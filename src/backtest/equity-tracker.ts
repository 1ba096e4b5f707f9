import { DAY_MS } from '../core/shared/time.ts'

export type TrackedEquity = ReturnType<EquityTracker['tracked']>

/** Follows a value bar by bar: its value at the end of each day, and its falls. */
export class EquityTracker {
  readonly #start: number
  /** Values of the days that are over. */
  readonly #days: number[] = []
  readonly #dayNumbers: number[] = []
  #value: number
  #peak: number
  #peakMs: number | null = null
  #closeMs = 0
  #dayEndMs = -Infinity
  #daysWithBars = 0
  #depth = 0
  #deepest: Fall = NO_FALL
  #isBelow = false
  #longestMs = 0

  constructor(start: number) {
    this.#start = start
    this.#value = start
    this.#peak = start
  }

  get value(): number {
    return this.#value
  }

  /** The current fall from the peak. */
  get fall(): number {
    return this.#peak > 0 ? 1 - this.#value / this.#peak : 0
  }

  /** Takes the value after bars that opened and closed at these times. */
  close(value: number, openMs: number, closeMs: number): void {
    // A late bar of another symbol belongs to a past day. Its value counts for the current day.
    if (openMs >= this.#dayEndMs) this.#beginDay(openMs)
    this.#value = value
    if (closeMs > this.#closeMs) this.#closeMs = closeMs
    this.#peakMs ??= openMs
    if (value >= this.#peak) this.#climb(value, this.#closeMs)
    else this.#fall(this.#closeMs)
  }

  tracked() {
    const endMs = this.#closeMs
    const { peakMs, troughMs, recoveredMs } = this.#deepest
    const belowMs = this.#isBelow && this.#peakMs !== null ? endMs - this.#peakMs : 0
    return {
      start: this.#start,
      days: this.#dayNumbers.length === 0 ? [] : [...this.#days, this.#value],
      /** The UTC days of the values, as days since 1970. */
      dayNumbers: this.#dayNumbers,
      /** Number of days with bars. */
      daysWithBars: this.#daysWithBars,
      /** The deepest fall. */
      drawdown: {
        depth: this.#depth,
        peakMs,
        troughMs,
        recoveredMs,
        /** Time from the peak until it was reached again, or to the end. */
        lengthMs: peakMs === null ? 0 : (recoveredMs ?? endMs) - peakMs,
        /** The longest time below any peak. */
        longestMs: Math.max(this.#longestMs, belowMs),
      },
    }
  }

  #beginDay(openMs: number): void {
    const day = Math.floor(openMs / DAY_MS)
    const last = this.#dayNumbers.at(-1)
    // A day without bars keeps the value, and is a day of the year by which figures are annualised.
    for (let over = last ?? day; over < day; over += 1) {
      this.#days.push(this.#value)
      this.#dayNumbers.push(over + 1)
    }
    if (last === undefined) this.#dayNumbers.push(day)
    this.#dayEndMs = (day + 1) * DAY_MS
    this.#daysWithBars += 1
  }

  #climb(value: number, closeMs: number): void {
    if (this.#isBelow) {
      this.#isBelow = false
      this.#longestMs = Math.max(this.#longestMs, closeMs - (this.#peakMs ?? closeMs))
      if (this.#deepest.peakMs === this.#peakMs) this.#deepest = { ...this.#deepest, recoveredMs: closeMs }
    }
    this.#peak = value
    this.#peakMs = closeMs
  }

  #fall(closeMs: number): void {
    this.#isBelow = true
    const { fall } = this
    if (fall <= this.#depth) return
    this.#depth = fall
    this.#deepest = { peakMs: this.#peakMs, troughMs: closeMs, recoveredMs: null }
  }
}

/** Times are null if the value never fell, or did not recover by the end. */
interface Fall {
  readonly peakMs: number | null
  readonly troughMs: number | null
  readonly recoveredMs: number | null
}

const NO_FALL: Fall = { peakMs: null, troughMs: null, recoveredMs: null }
