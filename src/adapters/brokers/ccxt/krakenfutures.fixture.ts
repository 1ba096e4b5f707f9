import { KRAKEN_FUTURES_WIRE } from '../../../../test/exchange-server/wires/krakenfutures.ts'
import { refusal, type TestVenue } from './ccxt-broker.fixture.ts'

export const KRAKEN_FUTURES: TestVenue = {
  id: 'krakenfutures',
  wire: KRAKEN_FUTURES_WIRE,
  acknowledges: 'ids',
  limitMs: 10_000,
  requests: {
    submit: /^POST .*\/sendorder$/,
    lookup: /\/(orders\/status|v2\/orders)$/,
    cancel: /^POST .*\/cancelorder$/,
    trades: /\/fills$/,
    account: /\/(accounts|openpositions)$/,
    leverage: /^PUT .*\/leveragepreferences$/,
    place_stop: /^POST .*\/sendorder$/,
    lookup_stop: /\/(orders\/status|v2\/(orders|triggers))$/,
    cancel_stop: /^POST .*\/cancelorder$/,
    any: /./,
  },
  faults: {
    unknown_after: { kind: 'done_then_status', status: 200, code: 'Server Error' },
    limit: refusal(200, 'apiLimitExceeded', ''),
    ban: refusal(429, 'apiLimitExceeded', '', 120),
    refusal: refusal(200, 'insufficientAvailableFunds', ''),
  },
}
