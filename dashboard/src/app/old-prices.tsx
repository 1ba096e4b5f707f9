import { useQuery } from '@tanstack/react-query'
import { queries } from '../api/queries.ts'
import { Badge } from '../ui/badge.tsx'

/** Symbols whose newest price is too old for the service to decide on: what is made of it is old as well. */
const useOldPrices = (): ReadonlySet<string> => {
  const { data = [] } = useQuery(queries.prices())
  return new Set(data.flatMap(({ symbol, price }) => (price === null ? [symbol] : [])))
}

/** Beside a position whose mark and profit are no longer current. */
export const OldPriceBadge = ({ asset }: { readonly asset: string }) =>
  useOldPrices().has(asset) ? (
    <Badge
      tone="warn"
      title="No recent price: mark and profit are of the last one (market.max_mark_age_seconds)"
    >
      old price
    </Badge>
  ) : null

/** Beside figures of the whole account. */
export const OldPricesBadge = () => {
  const old = useOldPrices()
  const { data: positions = [] } = useQuery(queries.positions('open'))
  const assets = [...new Set(positions.map(({ asset }) => asset))].filter((asset) => old.has(asset))
  return assets.length === 0 ? null : (
    <Badge hasName tone="warn" title="Equity and profit count these positions at their last price">
      old {assets.length === 1 ? 'price' : 'prices'}: {assets.join(', ')}
    </Badge>
  )
}
