/** A price, and when it held. */
export interface Quote {
  readonly price: number
  readonly atMs: number
}
