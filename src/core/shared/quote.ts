import type { Price } from './money.ts'

/** A price on which decisions may be based, and its time. */
export interface Quote {
  readonly price: Price
  readonly atMs: number
}
