import { BYBIT_WIRE } from '../../../../test/exchange-server/wires/bybit.ts'
import { refusal, type TestVenue } from './ccxt-broker.fixture.ts'

export const BYBIT: TestVenue = {
  id: 'bybit',
  wire: BYBIT_WIRE,
  acknowledges: 'ids',
  limitMs: 5000,
  requests: {
    submit: /^POST .*\/order\/create$/,
    lookup: /^GET .*\/order\/(realtime|history)$/,
    cancel: /^POST .*\/order\/cancel$/,
    trades: /\/execution\/list$/,
    account: /\/(wallet-balance|position\/list)$/,
    leverage: /\/set-leverage$/,
    place_stop: /^POST .*\/order\/create$/,
    lookup_stop: /^GET .*\/order\/(realtime|history)$/,
    cancel_stop: /^POST .*\/order\/cancel$/,
    any: /./,
  },
  faults: {
    unknown_after: { kind: 'done_then_status', status: 200, code: '10000' },
    limit: refusal(200, '10006', 'Too many visits. Exceeded the API Rate Limit.'),
    ban: refusal(429, '10018', 'The IP limit is exceeded.', 120),
    refusal: refusal(200, '110007', 'ab not enough for new order'),
  },
}
