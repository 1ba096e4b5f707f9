declare const BRAND: unique symbol

/** A type of its own in the shape of another: a price is not a quantity, an order's id is not a position's. */
export type Brand<Shape, Name extends string> = Shape & { readonly [BRAND]: Name }

export type OrderId = Brand<string, 'OrderId'>
export type PositionId = Brand<string, 'PositionId'>
export type IntentId = Brand<string, 'IntentId'>

/** ISO 8601 in UTC with milliseconds: the order of the texts is the order of time. */
export type Timestamp = Brand<string, 'Timestamp'>

export const orderId = (id: string): OrderId => id as OrderId
export const positionId = (id: string): PositionId => id as PositionId
export const intentId = (id: string): IntentId => id as IntentId
export const timestampOf = (text: string): Timestamp => text as Timestamp
