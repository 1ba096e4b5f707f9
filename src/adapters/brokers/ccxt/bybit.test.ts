import { brokerContract } from '../../../ports/broker.contract.ts'
import { BYBIT } from './bybit.fixture.ts'
import { openVenueFixture } from './ccxt-broker.fixture.ts'

brokerContract('the broker at Bybit', () => openVenueFixture(BYBIT))
