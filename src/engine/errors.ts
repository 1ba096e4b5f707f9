/** More commands wait than the queue may hold: come back later. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError'
  constructor() {
    super('too many commands are waiting')
  }
}

export class EngineClosedError extends Error {
  override readonly name = 'EngineClosedError'
  constructor() {
    super('the engine is shutting down')
  }
}
