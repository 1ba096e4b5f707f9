import { brokerContract } from '../../../ports/broker.contract.ts'
import { OKX } from './okx.fixture.ts'
import { openVenueFixture } from './ccxt-broker.fixture.ts'

brokerContract('the broker at OKX', () => openVenueFixture(OKX))
