/** A "no" of the venue, with its own code. */
export class VenueRefusal extends Error {
  override readonly name = 'VenueRefusal'
  readonly code: number
  readonly status: number
  constructor(code: number, message: string, status = 400) {
    super(message)
    this.code = code
    this.status = status
  }
}
