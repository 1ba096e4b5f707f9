import { brokerContract } from '../../../ports/broker.contract.ts'
import { KRAKEN_FUTURES } from './krakenfutures.fixture.ts'
import { openVenueFixture } from './ccxt-broker.fixture.ts'

brokerContract('the broker at Kraken Futures', () => openVenueFixture(KRAKEN_FUTURES))
