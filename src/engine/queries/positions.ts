import { viewPosition, viewPositions, type PositionView } from '../../core/views/positions.ts'
import type { Reader } from './reader.ts'

export const POSITIONS_MAX = 500

/** Everything that may still win or lose, newest first. */
export const openPositions = async (reader: Reader): Promise<readonly PositionView[]> =>
  viewPositions((await reader.fresh()).trading.positions, { status: 'open', limit: POSITIONS_MAX })

/** Closed ones too; null if no position has this id. */
export const positionOf = async (reader: Reader, id: string): Promise<PositionView | null> => {
  const position = (await reader.fresh()).trading.positions.get(id)
  return position === undefined ? null : viewPosition(position)
}
