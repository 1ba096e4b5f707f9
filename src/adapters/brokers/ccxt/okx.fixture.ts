import { OKX_WIRE } from '../../../../test/exchange-server/wires/okx.ts'
import { refusal, type TestVenue } from './ccxt-broker.fixture.ts'

export const OKX: TestVenue = {
  id: 'okx',
  wire: OKX_WIRE,
  acknowledges: 'ids',
  limitMs: 10_000,
  requests: {
    submit: /^POST .*\/trade\/order$/,
    lookup: /^GET .*\/trade\/order$/,
    cancel: /^POST .*\/trade\/cancel-order$/,
    trades: /\/trade\/fills$/,
    account: /\/account\/(balance|positions)$/,
    leverage: /\/set-leverage$/,
    place_stop: /^POST .*\/trade\/order-algo$/,
    lookup_stop: /^GET .*\/trade\/order-algo$/,
    cancel_stop: /^POST .*\/trade\/cancel-algos$/,
    any: /./,
  },
  faults: {
    unknown_after: { kind: 'done_then_status', status: 200, code: '50004' },
    limit: refusal(429, '50011', 'Requests too frequent.'),
    ban: refusal(429, '50011', 'Requests too frequent.', 120),
    refusal: refusal(200, '51008', 'Order failed. Insufficient USDT margin in account'),
  },
}
