/** `signal` of `signal.ta.rsi.v1`: what the event stream filters by. */
export const categoryOf = (type: string): string => {
  const dot = type.indexOf('.')
  return dot === -1 ? type : type.slice(0, dot)
}

/** `signal.ta` of `signal.ta.rsi.v1`: the first two segments, by which the log is indexed and counted. */
export const domainOf = (type: string): string => {
  const first = type.indexOf('.')
  const second = first === -1 ? -1 : type.indexOf('.', first + 1)
  return second === -1 ? type : type.slice(0, second)
}

/** Whether `type` is `prefix` or begins with all its segments. */
export const hasTypePrefix = (type: string, prefix: string): boolean =>
  type === prefix || type.startsWith(`${prefix}.`)
