import { brokerContract } from '../../../ports/broker.contract.ts'
import { openBrokerFixture } from './ccxt-broker.fixture.ts'

brokerContract('the ccxt broker', openBrokerFixture)
