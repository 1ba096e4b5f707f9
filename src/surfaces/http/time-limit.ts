export type Timely<T> = { readonly status: 'done'; readonly value: T } | { readonly status: 'late' }

/** Waits no longer than the limit. The work itself goes on; `onLateFailure` gets its error if it fails later. */
export const withinTime = async <T>(
  work: Promise<T>,
  limitMs: number,
  onLateFailure: (error: unknown) => void,
): Promise<Timely<T>> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Timely<T>>((resolve) => {
    timer = setTimeout(() => resolve({ status: 'late' }), limitMs)
  })
  try {
    const first = await Promise.race([work.then((value): Timely<T> => ({ status: 'done', value })), late])
    if (first.status === 'late') work.catch(onLateFailure)
    return first
  } finally {
    clearTimeout(timer)
  }
}
