import type { Conviction } from './conviction.ts'

/** A signal's part in a trade. */
export interface Credit {
  readonly signalId: string
  /** Whole; all credits of a trade add up to exactly a billion. */
  readonly weightBillionths: number
}

const BILLION = 1e9

/** Credit goes to the inputs that spoke for the side taken, by how much. What rounding leaves goes to the largest. */
export const creditsOf = ({ inputs, side }: Pick<Conviction, 'inputs' | 'side'>): readonly Credit[] => {
  const supporters = inputs.filter(({ contribution }) => contribution * side > 0)
  const total = supporters.reduce((sum, { contribution }) => sum + Math.abs(contribution), 0)
  const credits = supporters.map(({ signalId, contribution }) => ({
    signalId,
    weightBillionths: Math.round((Math.abs(contribution) / total) * BILLION),
  }))
  const residue = BILLION - credits.reduce((sum, { weightBillionths }) => sum + weightBillionths, 0)
  const largest = credits.reduce((most, { weightBillionths }) => Math.max(most, weightBillionths), 0)
  const taker = credits.findIndex(({ weightBillionths }) => weightBillionths === largest)
  return credits.map((credit, index) =>
    index === taker ? { ...credit, weightBillionths: largest + residue } : credit,
  )
}
