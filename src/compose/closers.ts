/** What was opened, closed in the other order. Opening that fails half-way leaves nothing open. */
export class Closers {
  readonly #close: (() => Promise<void>)[] = []

  add(close: () => Promise<void>): void {
    this.#close.push(close)
  }

  async closeAll(): Promise<void> {
    for (let close = this.#close.pop(); close !== undefined; close = this.#close.pop()) await close()
  }
}

/** Opens with closers at hand; if that throws, everything opened so far is closed. */
export const opening = async <Opened>(open: (closers: Closers) => Promise<Opened>): Promise<Opened> => {
  const closers = new Closers()
  try {
    return await open(closers)
  } catch (error) {
    await closers.closeAll()
    throw error
  }
}
