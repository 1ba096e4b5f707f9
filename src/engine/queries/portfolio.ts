import type { Configuration } from '../../core/config/schema.ts'
import { viewPortfolio, type PortfolioView } from '../../core/views/portfolio.ts'
import type { Clock } from '../../ports/clock.ts'
import { isoNow } from '../iso-now.ts'
import type { Reader } from './reader.ts'

/** Where the account stands now. */
export const portfolioOf = async (
  reader: Reader,
  configuration: Configuration,
  clock: Clock,
): Promise<PortfolioView> => viewPortfolio(await reader.fresh(), configuration, isoNow(clock))
