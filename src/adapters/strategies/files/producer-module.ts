/** What a file of the user gets as `signal-engine/producer`. Its types go with the build, for editors. */
import type { Producer } from '../../../ports/producer.ts'
import type { ProducerDescription } from './messages.ts'

export { priceNumber } from '../../../core/shared/money.ts'

/** A producer of the user: what a built-in one declares in `core/signal-types`, it declares itself. */
export interface OwnProducerDefinition extends Producer, ProducerDescription {}

export const defineProducer = (producer: OwnProducerDefinition): OwnProducerDefinition => producer
