import { z } from 'zod'

declare const BRAND: unique symbol

/**
 * A distinct type with the shape of another: a price is not a quantity, and the id of an order is not that of a
 * position.
 */
export type Brand<Shape, Name extends string> = Shape & { readonly [BRAND]: Name }

export type OrderId = Brand<string, 'OrderId'>
export type PositionId = Brand<string, 'PositionId'>
export type IntentId = Brand<string, 'IntentId'>
export type SignalId = Brand<string, 'SignalId'>
export type CallId = Brand<string, 'CallId'>
export type ContributorId = Brand<string, 'ContributorId'>
/** The name under which a contributor or a process signs and submits. */
export type NodeId = Brand<string, 'NodeId'>
/** Id of a trace session. */
export type SessionId = Brand<string, 'SessionId'>
/** Id of an accrued share of profit. The wire calls it the id of a karma intent. */
export type AccrualId = Brand<string, 'AccrualId'>
export type ReceiptId = Brand<string, 'ReceiptId'>

/** A symbol in its canonical form, in which symbols are compared. Only `canonicalSymbol` creates it. */
export type CanonicalSymbol = Brand<string, 'CanonicalSymbol'>

/** ISO 8601 in UTC with milliseconds: the order of the texts is the order of time. */
export type Timestamp = Brand<string, 'Timestamp'>

export const orderId = (id: string): OrderId => id as OrderId
export const positionId = (id: string): PositionId => id as PositionId
export const intentId = (id: string): IntentId => id as IntentId
export const signalId = (id: string): SignalId => id as SignalId
export const callId = (id: string): CallId => id as CallId
export const contributorId = (id: string): ContributorId => id as ContributorId
export const nodeId = (id: string): NodeId => id as NodeId
export const sessionId = (id: string): SessionId => id as SessionId
export const accrualId = (id: string): AccrualId => id as AccrualId
export const receiptId = (id: string): ReceiptId => id as ReceiptId
export const timestampOf = (text: string): Timestamp => text as Timestamp

/** Earlier than every timestamp. Stands for the time of a log without events. */
export const BEFORE_ALL = timestampOf('')

/** A text in a payload: writers pass a plain text, and readers of the log receive the brand. */
export const branded = <Of extends Brand<string, string>>() => z.string() as unknown as z.ZodType<Of, string>
