import type { EventType, NewEvent, NewPayload } from '../events/catalogue.ts'

/** An event that order management writes. */
export const omsEvent = <Type extends EventType>(
  type: Type,
  payload: NewPayload<Type>,
  traceId?: string,
): NewEvent =>
  // Type and payload belong together, which the compiler cannot follow into a union.
  ({ type, source: 'oms', payload, ...(traceId === undefined ? {} : { traceId }) }) as NewEvent
