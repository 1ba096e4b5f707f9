import type { MarginMode } from '../../../core/shared/venues.ts'
import type { Contract } from './contracts.ts'
import type { FoundMargin, Margin } from './dialects/dialect.ts'
import type { Exchange, FailedReply } from './exchange.ts'

/**
 * Brings margin mode and leverage of a market to what is wanted, and reads them back. Null when the venue has them, or
 * why an entry must not be sent. Read before every entry: they can be changed at the venue at any time.
 */
export const agreeMargin = async (
  { api, dialect, request }: Exchange,
  contract: Contract,
  mode: MarginMode,
  leverage: number,
): Promise<FailedReply | null> => {
  // Exchanges take whole numbers. Never more than was decided: more brings the liquidation nearer.
  const wanted: Margin = { mode, leverage: Math.max(1, Math.floor(leverage)) }
  const read = () => request(() => dialect.margin(api, contract, wanted))
  const before = await read()
  if (before.status !== 'done') return difference('margin mode and leverage could not be read', before)
  if (isSame(before.value, wanted)) return null
  const set = await request(() => dialect.setMargin(api, contract, wanted, before.value))
  if (set.status !== 'done')
    return difference(`${described(wanted)} could not be set for ${contract.market}`, set)
  const after = await read()
  if (after.status !== 'done') return difference('margin mode and leverage could not be read back', after)
  if (isSame(after.value, wanted)) return null
  return {
    status: 'refused',
    code: null,
    reason: `${contract.market} should have ${described(wanted)}, but the venue has ${described(after.value)}`,
  }
}

const difference = (what: string, failure: FailedReply): FailedReply => ({
  ...failure,
  reason: `${what}: ${failure.reason}`,
})

const isSame = (found: FoundMargin, wanted: Margin): boolean =>
  found.mode === wanted.mode && found.leverage === wanted.leverage

const described = ({ mode, leverage }: FoundMargin): string =>
  `${mode} margin with ${leverage === null ? 'no leverage set' : `leverage ${leverage}`}`
