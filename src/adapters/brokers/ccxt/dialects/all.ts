import type { VenueId } from '../../../../core/shared/venues.ts'
import { binanceusdm } from './binanceusdm.ts'
import { bybit } from './bybit.ts'
import type { Dialect } from './dialect.ts'
import { krakenfutures } from './krakenfutures.ts'
import { okx } from './okx.ts'

/** How each supported venue is spoken to. */
export const DIALECTS: Readonly<Record<VenueId, Dialect>> = { binanceusdm, bybit, krakenfutures, okx }
