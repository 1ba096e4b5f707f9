import type { EventType, NewEvent, NewPayload } from '../../events/catalogue.ts'

/** An event that order management writes. */
export const omsEvent = <Type extends EventType>(
  type: Type,
  payload: NewPayload<Type>,
  traceId?: string,
): NewEvent =>
  // Type and payload belong together, but the compiler cannot check that across a union.
  ({ type, source: 'oms', payload, ...(traceId === undefined ? {} : { traceId }) }) as NewEvent
