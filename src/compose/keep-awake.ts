/**
 * The process ends when this work is done. By itself it would end as soon as all that is waited for is a thread or a
 * timer that keeps nobody awake: in the middle of a command, or before the last checkpoint of a service.
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
