import { SUPPORTED_VENUES } from '../../../core/shared/venues.ts'
import type { DefineCommand } from '../command.ts'
import { left, shrinking, table } from '../table.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'The venues that real orders are sent to, and what each can do. Append -sandbox to a name for its test ' +
        'network. Paper trading and price feeds work with every venue of the ccxt library.',
    )
    .examples('svc venues', 'svc config set execution.venue bybit-sandbox')
    .runs(() => {
      const venues = Object.values(SUPPORTED_VENUES)
      const text = table(venues, [
        left('Venue', ({ id }) => id),
        left('Stops', ({ restsStops }) => (restsStops ? 'rest' : 'none')),
        left('Margin', ({ marginModes }) => marginModes.join(', ')),
        left('Hedge', ({ hedgeMode }) => hedgeMode),
        left('Window', ({ acceptanceWindowMs }) => `${acceptanceWindowMs / 1000} s`),
        shrinking('Test network', ({ testNetwork }) => testNetwork),
      ])
      const document = {
        venues: venues.map((venue) => ({
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
        })),
      }
      return Promise.resolve({ document, text })
    })
}
