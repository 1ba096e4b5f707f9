import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * Built, the thread is JavaScript beside this file. From source it needs the translator of its parent,
 * which Node 20 hands on to no thread: so the thread fetches it first.
 */
export const startSigningWorker = (options: WorkerOptions): Worker => {
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./signing-thread.js', import.meta.url), options)
  }
  const source = new URL('./signing-thread.ts', import.meta.url).href
  const code = `import('tsx/esm/api').then(({ register }) => { register(); return import('${source}') })`
  return new Worker(code, { ...options, eval: true })
}
