import { api } from '../../api/client.ts'
import type { Position } from '../../api/types.ts'
import { useAction } from '../../app/use-action.ts'
import { formatPrice, formatUsd, formatWords } from '../../ui/format.ts'
import { toast } from '../../ui/toast.tsx'
import { isOpen, pnlOf } from './figures.ts'

const REFRESHES = ['positions', 'portfolio', 'orders'] as const

/** Closes one position at the market, after a confirmation. */
export const useClose = () =>
  useAction({
    send: ({ id }: Position, headers) =>
      api.POST('/positions/{position_id}/close', { params: { path: { position_id: id } }, headers }),
    confirms: (position) => ({
      title: `Close ${position.direction} ${position.asset}?`,
      text: textFor(position),
      confirmLabel: 'Close position',
      look: 'danger',
    }),
    done: (closed) =>
      closed.realized_pnl === null
        ? `${closed.asset}: exit order sent`
        : `${closed.asset} closed: ${formatUsd(closed.realized_pnl, { plus: true })}`,
    keyOf: ({ id }) => id,
    refreshes: REFRESHES,
  })

const textFor = (position: Position): string => {
  const { size_notional, mark_price } = position
  const pnl = pnlOf(position)
  const now = mark_price === null ? 'No recent price' : `The last price is $${formatPrice(mark_price)}`
  const result = pnl === null ? '' : `, which makes ${formatUsd(pnl, { plus: true })} before the exit fee`
  return `${formatUsd(size_notional)} are closed at the market. ${now}${result}.`
}

/** At a venue the exits are only on their way. */
const closedText = (positions: readonly Position[]): string => {
  const closed = positions.filter((position) => !isOpen(position)).length
  const sent = positions.length - closed
  return sent === 0
    ? `${closed} closed`
    : `${closed} closed, ${sent} exit ${sent === 1 ? 'order' : 'orders'} sent`
}

const failureText = ({ symbol, reasons }: { readonly symbol: string; readonly reasons: readonly string[] }) =>
  `${symbol} (${reasons.map(formatWords).join(', ')})`

/** Closes all positions at the market, after a reason and a typed word. */
export const useCloseAll = (count: number | undefined) =>
  useAction({
    send: (_input: void, headers, reason) => api.POST('/positions/close-all', { body: { reason }, headers }),
    confirms: () => ({
      // Positions can be closed while they cannot be read: the service knows them.
      title:
        count === 1
          ? 'Close the open position?'
          : `Close all ${count === undefined ? '' : `${count} `}open positions?`,
      text: 'Each is closed at the market. The brain may open new ones in its next cycle: raise the kill switch to prevent that.',
      confirmLabel: 'Close all',
      look: 'danger',
      reason: { suggestion: 'closed by the operator' },
      word: 'CLOSE',
    }),
    done: ({ positions }) => closedText(positions),
    after: ({ failed }) => {
      if (failed.length > 0) toast(`Not closed: ${failed.map(failureText).join('; ')}`, 'bad')
    },
    refreshes: REFRESHES,
  })
