/** The module `signal-engine/producer` for files of the user. Its types are part of the build, for editors. */
import type { Producer } from '../../../ports/producer.ts'
import type { ProducerDescription } from './messages.ts'

export { priceNumber } from '../../../core/shared/money.ts'

/** A producer of the user. It declares itself what `core/signal-types` declares for a built-in one. */
export interface OwnProducerDefinition extends Producer, ProducerDescription {}

export const defineProducer = (producer: OwnProducerDefinition): OwnProducerDefinition => producer
