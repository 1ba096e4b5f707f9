import { SUPPORTED_VENUES } from '../../../core/shared/venues.ts'
import type { DefineCommand } from '../command.ts'
import { left } from '../table.ts'
import { list } from '../view-text.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'The venues that real orders are sent to, and what each can do. Append -sandbox to a name for its test ' +
        'network. Paper trading and price feeds work with every venue of the ccxt library.',
    )
    .examples('svc venues', 'svc config set execution.venue bybit-sandbox')
    .runs(() => {
      const venues = Object.values(SUPPORTED_VENUES).map((venue) => ({
        id: venue.id,
        name: venue.name,
        finds_orders_for: venue.findsOrdersFor,
        client_order_id_length_max: venue.clientOrderIdLengthMax,
        rests_stops: venue.restsStops,
        hedge_mode: venue.hedgeMode,
        margin_modes: venue.marginModes,
        quantity_unit: venue.quantityUnit,
        test_network: venue.testNetwork,
        acceptance_window_ms: venue.acceptanceWindowMs,
        needs_passphrase: venue.needsPassphrase,
        reports_funding: venue.reportsFunding,
      }))
      const text = list(venues, [
        left('Venue', ({ id }) => id),
        ['rests_stops', 'Stops'],
        ['margin_modes', 'Margin'],
        ['hedge_mode', 'Hedge'],
        left('Window', ({ acceptance_window_ms: ms }) => `${ms / 1000} s`),
        'test_network',
      ])
      return Promise.resolve({ document: { venues }, text })
    })
}
