/** What a caller needs for an endpoint or a tool. Every route and every tool declares exactly one. */
export type Need = 'public' | 'read' | 'submit' | 'operator'

/** Who sent a request. `authenticate` in `http/authenticate.ts` is the one place that says so. */
export interface Caller {
  /** Which of the configured tokens was sent; `anonymous` where none was required. */
  readonly kind: 'anonymous' | 'bearer' | 'operator'
  /** Operators; and everybody who is admitted at all, while no operator token is configured. */
  readonly mayOperate: boolean
}

/**
 * Whether the caller proved to be an operator. Where no operator token is configured nobody does over HTTP: the key of a
 * contributor then stands above every token.
 */
export const isProvenOperator = ({ kind, mayOperate }: Caller): boolean =>
  mayOperate && kind !== 'anonymous' && kind !== 'bearer'

/** Whether an admitted caller has what an endpoint or a tool needs. Each token reads and submits. */
export const mayDo = ({ mayOperate }: Caller, need: Need): boolean => need !== 'operator' || mayOperate
