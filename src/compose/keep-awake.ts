/**
 * Keeps the process alive until this work is done. Without it the process would end as soon as it waits only for a
 * thread or an unreferenced timer: in the middle of a command, or before the last checkpoint of a service.
 */
export const keepAwake = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  const timer = setInterval(() => undefined, LONGEST_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

const LONGEST_MS = 2 ** 31 - 1
