import type { Price } from './money.ts'

/** A price that decisions may be made on, and when it held. */
export interface Quote {
  readonly price: Price
  readonly atMs: number
}
