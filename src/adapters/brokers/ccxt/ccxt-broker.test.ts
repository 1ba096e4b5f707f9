import { brokerContract } from '../../../ports/broker.contract.ts'
import { openBrokerStage } from './ccxt-broker.fixture.ts'

brokerContract('the ccxt broker', openBrokerStage)
