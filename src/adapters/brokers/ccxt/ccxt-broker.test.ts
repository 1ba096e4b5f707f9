import { brokerContract } from '../../../ports/broker.contract.ts'
import { openBrokerStage } from './stage.contract.ts'

brokerContract('the ccxt broker', openBrokerStage)
