import { viewCapabilities, type CapabilitiesView } from '../../core/views/capabilities.ts'
import type { Clock } from '../../ports/clock.ts'
import { isoNow } from '../iso-now.ts'
import type { Reader } from './reader.ts'

/** What agents can do here, and who speaks. */
export const capabilitiesOf = async (reader: Reader, clock: Clock): Promise<CapabilitiesView> => {
  const [state, domains] = await Promise.all([reader.fresh(), reader.log.countByDomain()])
  return viewCapabilities(state, domains.keys(), isoNow(clock))
}
